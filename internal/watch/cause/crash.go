package cause

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a container does not keep running.
const (
	InitFailed      = "InitFailed"      // an init container exited with a status other than 0
	OutOfMemory     = "OOMKilled"       // used more memory than its limit
	CrashLoop       = "CrashLoop"       // more restarts than the threshold
	ContainerExited = "ContainerExited" // ended and is not restarted, or not too often yet
)

// crashed reads how instances of the container ended.
func crashed(c evidence.Container, p Policy) (Finding, bool) {
	t := c.Ended()
	if t == nil {
		return Finding{}, false
	}
	if oom := outOfMemory(c); oom != nil {
		return exited(c, OutOfMemory, oom, memoryText(c)), true
	}
	restarts := int(c.Status.RestartCount)
	looping := restarts > p.CrashLoopThreshold
	switch {
	case t.Reason == evidence.StartError || t.Reason == cannotRun:
		if passing(t.Message) {
			return Finding{}, false
		}
		return startEnded(c, t), true
	case c.Init && !c.Sidecar && t.ExitCode != 0 && (looping || !c.Restarts || !p.Patient()):
		text := fmt.Sprintf("init container failed with exit code %d", t.ExitCode)
		if looping {
			text += " after " + english.Plural(restarts, "restart")
		}
		return withWords(exited(c, InitFailed, t, text), t), true
	case looping && c.Serves():
		text := fmt.Sprintf("crash loop: %s, last exit code %d", english.Plural(restarts, "restart"), t.ExitCode)
		return killed(c, exited(c, CrashLoop, t, text), t), true
	case !c.Restarts && t.ExitCode != 0:
		return withWords(exited(c, ContainerExited, t, fmt.Sprintf("ended with exit code %d and is not restarted", t.ExitCode)), t), true
	}
	return Finding{}, false
}

// ignoresRestarts is true for a container that has been ready for so long that the end
// of an instance before no longer counts.
func (j *judge) ignoresRestarts(c evidence.Container) bool {
	since, ready := c.ReadySince(j.Pod)
	return ready && c.Status.LastTerminationState.Terminated != nil && !j.waits(since.Add(j.policy.RecoveryTime))
}

// endedOnce is a container that ended and is restarted, not too often yet.
func endedOnce(c evidence.Container) (Finding, bool) {
	t, restarts := c.Ended(), int(c.Status.RestartCount)
	if t == nil || restarts == 0 && t.ExitCode == 0 {
		return Finding{}, false
	}
	text := fmt.Sprintf("ended with exit code %d", t.ExitCode)
	if restarts > 0 {
		text += " after " + english.Plural(restarts, "restart")
	}
	if t.Reason == evidence.StartError || t.Reason == cannotRun {
		return startEnded(c, t), true
	}
	return killed(c, exited(c, ContainerExited, t, text), t), true
}

// startEnded is an instance that ended before its program began.
func startEnded(c evidence.Container, t *corev1.ContainerStateTerminated) Finding {
	f := notStarted(c, t.Reason, t.Message)
	text := strings.TrimPrefix(f.Message, "container "+c.Name+": ")
	return exited(c, f.Code, t, text)
}

// killed says what ended an instance: its hook, its probe, or itself, as its last words say.
func killed(c evidence.Container, f Finding, t *corev1.ContainerStateTerminated) Finding {
	if killedForHook(c) {
		reason, message, _ := c.Waiting()
		f.Message += "; " + hookText(c, either(reason == hookError, message, ""))
		f.General, f.Code = f.Code, HookFailed
		return f
	}
	if text := probeText(c); text != "" {
		f.Message += text
		return f
	}
	return withWords(f, t)
}

// outOfMemory is the end of an instance that the kernel killed for its memory.
// Only the reason says so: 137 is any SIGKILL. A later instance that completed
// makes up for it.
func outOfMemory(c evidence.Container) *corev1.ContainerStateTerminated {
	if t := c.Status.State.Terminated; t != nil && t.ExitCode == 0 {
		return nil
	}
	for _, t := range []*corev1.ContainerStateTerminated{
		c.Status.State.Terminated, c.Status.LastTerminationState.Terminated,
	} {
		if t != nil && t.Reason == evidence.OOMKilled {
			return t
		}
	}
	return nil
}

// outOfMemoryWait is the same where the container waits because of it.
func outOfMemoryWait(c evidence.Container) (Finding, bool) {
	reason, _, _ := c.Waiting()
	return of(c, OutOfMemory, reason, "%s", memoryText(c)), reason == evidence.OOMKilled
}

// What is said of the memory that a container may use.
const (
	limitIs = ", its limit is "
	noLimit = "it has no memory limit of its own"
)

func memoryText(c evidence.Container) string {
	if c.MemoryLimit == "" {
		return "ran out of memory (OOMKilled); " + noLimit
	}
	return "ran out of memory (OOMKilled)" + limitIs + c.MemoryLimit
}

func exited(c evidence.Container, code string, t *corev1.ContainerStateTerminated, text string) Finding {
	f := of(c, code, t.Reason, "%s", text)
	f.At = t.FinishedAt.Time
	f.ExitCode = number(t.ExitCode)
	if n := c.Status.RestartCount; n > 0 {
		f.Restarts = number(n)
	}
	return f
}

// endedBy is true if an event can be of the newest instance that ended: of many that are
// alike, the later ones are not written, but a program rarely ends with a signal by itself.
func endedBy(c evidence.Container, e *corev1.Event) bool {
	t := c.Ended()
	return t != nil && (t.ExitCode == exitKilled || t.ExitCode == exitTerminated || !evidence.LastSeen(e).Before(t.StartedAt.Time))
}

// probeText names the probe for which the kubelet kills the container.
func probeText(c evidence.Container) string {
	killed, probe := evidence.Latest(c.Events, "Killing"), evidence.Latest(c.Events, unhealthy)
	if killed == nil || probe == nil || !endedBy(c, killed) {
		return ""
	}
	return "; " + evidence.Text(probe)
}
