package cause

import (
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes of a postStart hook, which the kubelet runs in a container that has just
// started: the container counts as running only when it has returned.
const (
	HookFailed = "HookFailed" // for which the container is killed
	HookHangs  = "HookHangs"  // it has not returned
)

const (
	hookError  = "PostStartHookError"
	hookFailed = "FailedPostStartHook"
)

const hookSaid pattern.Expr = `(?s)failed - error: (.*)$`

// hookText is what is known of a hook that failed.
func hookText(c evidence.Container, message string) string {
	text := "its postStart hook failed"
	if c.Hook != "" {
		text = "its postStart hook (" + c.Hook + ") failed"
	}
	if m := hookSaid.FindStringSubmatch(message); m != nil {
		message = strings.TrimSuffix(m[1], `: , message: ""`)
	}
	if message != "" {
		text += ": " + oneOf(fault.Plain(message))
	}
	return text
}

// hookWait is a container that waits to be restarted because its hook failed.
func hookWait(c evidence.Container) *Finding {
	reason, message, _ := c.Waiting()
	if reason != hookError {
		return nil
	}
	f := of(c, HookFailed, reason, "%s", hookText(c, message))
	if e := evidence.Latest(c.Events, hookFailed); e != nil {
		f.Begun = evidence.FirstSeen(e)
	}
	if n := c.Status.RestartCount; n > 0 {
		f.Restarts = number(n)
	}
	return &f
}

// killedForHook is true if the newest instance that ended was killed since its hook failed.
func killedForHook(c evidence.Container) bool {
	e := evidence.Latest(c.Events, hookFailed)
	return e != nil && endedBy(c, e)
}

// hookRuns is a container whose hook has not returned: it has started, and the status
// does not say so yet.
func hookRuns(c evidence.Container) *Finding {
	reason, _, waiting := c.Waiting()
	if c.Hook == "" || !waiting || reason != "" && reason != evidence.ContainerCreating && reason != evidence.PodInitializing {
		return nil
	}
	e := evidence.Latest(c.Events, "Pulling", "Pulled", "Created", "Started", "Failed", "Killing", "BackOff", hookFailed)
	if e == nil || e.Reason != "Started" {
		return nil
	}
	f := of(c, HookHangs, "", "has started, but its postStart hook (%s) has not returned", c.Hook)
	f.Begun = evidence.LastSeen(e)
	return &f
}
