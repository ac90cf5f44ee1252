package watch

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// finding is a cause with Kubernetes' own word for it, by which it can be ignored.
type finding struct {
	cause  v1.Cause
	reason string
	at     time.Time
	passes bool      // it is known to pass by itself, sooner or later
	begun  time.Time // when it began, as far as is known
}

// failure is what will not heal by itself about one container, the gravest
// first: what is in the status, then what only the events know yet.
func (r *reading) failure(c container) (finding, bool) {
	if f, ok := c.brokenWait(); ok {
		if _, pulling := c.openPull(); pulling && f.begun.IsZero() {
			f.begun = r.now // it has just failed: the event that says so is still to come
		}
		return f, true
	}
	if f, ok := c.failedPull(); ok {
		return f, true
	}
	if r.forgiven(c) {
		return finding{}, false
	}
	return c.crash(r.policy)
}

// forgiven is true for a container that has been ready for so long that the end
// of an instance before no longer counts.
func (r *reading) forgiven(c container) bool {
	since, ready := c.readySince(r.pod)
	if !ready || c.status.LastTerminationState.Terminated == nil {
		return false
	}
	due := since.Add(r.policy.ReadyForgives)
	if r.now.Before(due) {
		r.askAt(due)
		return false
	}
	return true
}

// brokenWait reads the reasons to wait that will not pass by themselves.
// (PostStartHookError is none of them: the container is restarted, which the
// crash loop counts. Neither is CrashLoopBackOff.)
func (c container) brokenWait() (finding, bool) {
	reason, message, _ := c.waiting()
	var code string
	switch reason {
	case reasonErrImagePull, reasonImagePullBackOff, "RegistryUnavailable", "SignatureValidationFailed":
		return c.imageFinding(reason, c.explained(message)), true
	case reasonInvalidImageName:
		return c.finding(CauseInvalidImageName, reason, "image name %q is malformed: %s", c.image, lastPart(message)), true
	case reasonOOMKilled:
		return c.finding(CauseOOMKilled, reason, "ran out of memory (OOMKilled)%s", c.limitText()), true
	case reasonErrImageNeverPull:
		return c.finding(CauseImageNotPresent, reason, "image %s is not on the node and its pull policy is Never", c.image), true
	case "CreateContainerConfigError":
		code = CauseConfigMissing
	case "CreateContainerError", "RunContainerError", reasonStartError:
		code = startCode(message)
	default:
		return finding{}, false
	}
	if passing(message) {
		return finding{}, false
	}
	return c.finding(code, reason, "%s", trimStart(message)), true
}

// passing tells a node that is slow from a configuration that is wrong.
func passing(message string) bool {
	return strings.Contains(message, "failed to sync") && strings.Contains(message, "cache") ||
		strings.Contains(message, "context deadline exceeded")
}

// crash reads how instances of the container ended.
func (c container) crash(p Policy) (finding, bool) {
	t := c.ended()
	if t == nil {
		return finding{}, false
	}
	if oom := c.outOfMemory(); oom != nil {
		return c.exited(CauseOOMKilled, oom, "ran out of memory (OOMKilled)"+c.limitText()), true
	}
	restarts := int(c.status.RestartCount)
	looping := restarts > p.CrashLoopThreshold
	switch {
	case t.Reason == reasonStartError || t.Reason == "ContainerCannotRun":
		if passing(t.Message) {
			return finding{}, false
		}
		return c.exited(startCode(t.Message), t, trimStart(t.Message)), true
	case c.init && !c.sidecar && t.ExitCode != 0 && (looping || !c.restarts || !p.Patient()):
		text := fmt.Sprintf("init container failed with exit code %d", t.ExitCode)
		if looping {
			text += " after " + plural(restarts, "restart")
		}
		return c.exited(CauseInitFailed, t, text), true
	case looping && c.serves():
		text := fmt.Sprintf("crash loop: %s, last exit code %d", plural(restarts, "restart"), t.ExitCode)
		return c.exited(CauseCrashLoop, t, text+c.hookText()+c.probeText()), true
	case !c.restarts && t.ExitCode != 0:
		return c.exited(CauseContainerExited, t, fmt.Sprintf("ended with exit code %d and is not restarted", t.ExitCode)), true
	}
	return finding{}, false
}

// outOfMemory is the end of an instance that the kernel killed for its memory.
// Only the reason tells: 137 is any SIGKILL. One that ended well since makes up
// for it.
func (c container) outOfMemory() *corev1.ContainerStateTerminated {
	if t := c.status.State.Terminated; t != nil && t.ExitCode == 0 {
		return nil
	}
	for _, t := range []*corev1.ContainerStateTerminated{
		c.status.State.Terminated, c.status.LastTerminationState.Terminated,
	} {
		if t != nil && t.Reason == reasonOOMKilled {
			return t
		}
	}
	return nil
}

func (c container) imageFinding(reason, message string) finding {
	detail := trimPull(message)
	code, passes := pullCode(strings.ReplaceAll(detail, c.image, ""))
	if reason == "RegistryUnavailable" && code == CauseImagePullFailed {
		code, passes = CauseRegistryUnreachable, true
	}
	if detail == c.image+": not found" {
		return c.finding(code, reason, "image %s not found", c.image)
	}
	f := c.finding(code, reason, "image %s cannot be pulled: %s", c.image, detail)
	f.passes, f.begun = passes, c.pullFailsSince()
	return f
}

func (c container) exited(code string, t *corev1.ContainerStateTerminated, text string) finding {
	f := c.finding(code, t.Reason, "%s", text)
	f.at = t.FinishedAt.Time
	f.cause.ExitCode = number(t.ExitCode)
	if n := c.status.RestartCount; n > 0 {
		f.cause.Restarts = number(n)
	}
	return f
}

func (c container) finding(code, reason, format string, args ...any) finding {
	return finding{reason: reason, cause: v1.Cause{
		Code:      code,
		Message:   "container " + c.name + ": " + fmt.Sprintf(format, args...),
		Container: c.name,
	}}
}
