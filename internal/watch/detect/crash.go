package detect

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Crashed is a container that was restarted more often than a threshold, or is not restarted. That of an init
// container fails the first time, unless the threshold holds for them, too.
func Crashed(c evidence.Container, threshold int, forInit bool) *cause.Finding {
	t := c.Ended()
	if t == nil {
		return nil
	}
	restarts := int(c.Status.RestartCount)
	looping := restarts > threshold
	switch {
	case c.Init && !c.Sidecar && t.ExitCode != 0 && (looping || !c.Restarts || !forInit):
		text := fmt.Sprintf("init container failed with exit code %d", t.ExitCode)
		if looping {
			text += " after " + english.Plural(restarts, "restart")
		}
		return withWords(exited(c, cause.InitFailed, t, text), t)
	case looping && c.Serves():
		text := fmt.Sprintf("crash loop: %s, last exit code %d", english.Plural(restarts, "restart"), t.ExitCode)
		return killed(c, exited(c, cause.CrashLoop, t, text), t)
	case !c.Restarts && t.ExitCode != 0:
		return withWords(exited(c, cause.ContainerExited, t, endedWith(t)+" and is not restarted"), t)
	}
	return nil
}

// EndedOnce is a container that ended and is restarted, not too often yet.
func EndedOnce(c evidence.Container) *cause.Finding {
	t, restarts := c.Ended(), int(c.Status.RestartCount)
	if t == nil || restarts == 0 && t.ExitCode == 0 {
		return nil
	}
	text := endedWith(t)
	if restarts > 0 {
		text += " after " + english.Plural(restarts, "restart")
	}
	return killed(c, exited(c, cause.ContainerExited, t, text), t)
}

// EndedForGood is a container of a pod that is over, and that ended with an error.
func EndedForGood(c evidence.Container) *cause.Finding {
	t := c.Ended()
	if t == nil || t.ExitCode == 0 {
		return nil
	}
	return withWords(exited(c, cause.ContainerExited, t, endedWith(t)), t)
}

func endedWith(t *corev1.ContainerStateTerminated) string {
	return fmt.Sprintf("ended with exit code %d", t.ExitCode)
}

// killed says what ended an instance: its hook, its probe, or itself, as its last words say.
func killed(c evidence.Container, f *cause.Finding, t *corev1.ContainerStateTerminated) *cause.Finding {
	if killedForHook(c) {
		said := ""
		if reason, message, _ := c.Waiting(); reason == hookError {
			said = message
		}
		f.Message += "; " + hookText(c, said)
		f.General, f.Code = f.Code, cause.HookFailed
		return f
	}
	if text := probeText(c); text != "" {
		f.Message += text
		return f
	}
	return withWords(f, t)
}

// OutOfMemory is the end of an instance that the kernel killed for its memory.
// Only the reason says so: 137 is any SIGKILL. A later instance that completed
// makes up for it.
func OutOfMemory(c evidence.Container) *cause.Finding {
	if t := c.Status.State.Terminated; t != nil && t.ExitCode == 0 {
		return nil
	}
	for _, t := range []*corev1.ContainerStateTerminated{
		c.Status.State.Terminated, c.Status.LastTerminationState.Terminated,
	} {
		if t != nil && t.Reason == evidence.OOMKilled {
			return exited(c, cause.OutOfMemory, t, memoryText(c))
		}
	}
	return nil
}

// OutOfMemoryWait is the same where the container waits because of it.
func OutOfMemoryWait(c evidence.Container) *cause.Finding {
	if reason, _, _ := c.Waiting(); reason == evidence.OOMKilled {
		return of(c, cause.OutOfMemory, reason, "%s", memoryText(c))
	}
	return nil
}

// endedBy is true if an event can be of the newest instance that ended: of many that are
// alike, the later ones are not written, but a program rarely ends with a signal by itself.
func endedBy(c evidence.Container, e *corev1.Event) bool {
	t := c.Ended()
	return t != nil && (t.ExitCode == exitKilled || t.ExitCode == exitTerminated ||
		!evidence.LastSeen(e).Before(t.StartedAt.Time))
}

// probeText names the probe for which the kubelet kills the container.
func probeText(c evidence.Container) string {
	killed, probe := evidence.Latest(c.Events, "Killing"), evidence.Latest(c.Events, unhealthy)
	if killed == nil || probe == nil || !endedBy(c, killed) {
		return ""
	}
	return "; " + evidence.Text(probe)
}

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

// HookWait is a container that waits to be restarted because its hook failed.
func HookWait(c evidence.Container) *cause.Finding {
	reason, message, _ := c.Waiting()
	if reason != hookError {
		return nil
	}
	f := of(c, cause.HookFailed, reason, "%s", hookText(c, message))
	if e := evidence.Latest(c.Events, hookFailed); e != nil {
		f.Begun = evidence.FirstSeen(e)
	}
	return withRestarts(f, c)
}

// killedForHook is true if the newest instance that ended was killed since its hook failed.
func killedForHook(c evidence.Container) bool {
	e := evidence.Latest(c.Events, hookFailed)
	return e != nil && endedBy(c, e)
}

// HookRuns is a container whose hook has not returned: it has started, and the status
// does not say so yet.
func HookRuns(c evidence.Container) *cause.Finding {
	reason, _, waiting := c.Waiting()
	if c.Hook == "" || !waiting || reason != "" && reason != evidence.ContainerCreating &&
		reason != evidence.PodInitializing {
		return nil
	}
	e := evidence.Latest(c.Events, "Pulling", "Pulled", "Created", "Started", "Failed", "Killing", "BackOff",
		hookFailed)
	if e == nil || e.Reason != "Started" {
		return nil
	}
	f := of(c, cause.HookHangs, "", "has started, but its postStart hook (%s) has not returned", c.Hook)
	f.Begun = evidence.LastSeen(e)
	return f
}
