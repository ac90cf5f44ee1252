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

func hook() []entry {
	return []entry{
		{
			code: HookFailed, reasons: []string{hookError, hookFailed},
			hint: "The kubelet runs the container's postStart hook beside its program, and kills the container if the hook fails; the container's log has nothing of it. " +
				"Run the hook's command in the container (`kubectl exec`), or correct lifecycle.postStart in {spec}. {again}",
			explanation: explanation{
				title:    "The postStart hook fails",
				meaning:  "The container has a postStart hook: a command or a request that the kubelet sends when it has started. The hook failed, so the kubelet killed the container and starts it again.",
				signs:    []string{"An event FailedPostStartHook", "`kubectl get pods`: PostStartHookError or CrashLoopBackOff", "Exit code 137 or 143 of a program that has logged no error"},
				remedies: []string{"Run the hook's command by hand: `kubectl exec POD -- COMMAND`.", "See whether it needs what the program makes only later: the two run at the same time.", "Move the work into an init container, or into the program's own start."},
				example:  "crash/post-start-fails",
			},
		},
		{
			code: HookHangs,
			hint: "The container has started, but its postStart hook is still running. The kubelet waits for it before it does anything else for the pod. The output of a hook is not logged. " +
				"See what the hook waits for (lifecycle.postStart in {spec}); a hook should return at once, and wait for nothing that needs this pod to be ready.",
			explanation: explanation{
				title:    "The postStart hook does not return",
				meaning:  "The kubelet waits for the postStart hook without a limit of time, and neither looks at probes nor starts the next container meanwhile. A hook that waits for the container's own readiness waits for ever.",
				signs:    []string{"`kubectl get pods`: ContainerCreating, though there is an event Started", "No event for minutes after Started"},
				remedies: []string{"Look at the command in lifecycle.postStart: what does it wait for?", "Give it a limit of time (`timeout 30 …`), or run it in the background.", "Move the work into an init container or a startup probe."},
				passes:   "When the hook returns.",
				example:  "crash/post-start-hangs",
			},
		},
	}
}

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
