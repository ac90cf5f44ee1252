package cause

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
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

func crash() []entry {
	return []entry{
		{code: InitFailed, hint: "An init container has to complete before the others begin, and this one did not. {exit} {last-words}"},
		{code: OutOfMemory, hint: "It used {limit}, and the node killed it for that. Raise {memory-field}. {again}"},
		{
			code: CrashLoop, reasons: []string{"BackOff", evidence.CrashLoopBackOff}, why: probed,
			hint: "{container} starts, ends, and is restarted, at ever longer intervals. {exit} {why} {last-words}",
		},
		{code: ContainerExited, hint: "{exit} {last-words}"},
	}
}

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
		return exited(c, startCode(t.Message), t, trimStart(t.Message)), true
	case c.Init && !c.Sidecar && t.ExitCode != 0 && (looping || !c.Restarts || !p.Patient()):
		text := fmt.Sprintf("init container failed with exit code %d", t.ExitCode)
		if looping {
			text += " after " + english.Plural(restarts, "restart")
		}
		return exited(c, InitFailed, t, text), true
	case looping && c.Serves():
		text := fmt.Sprintf("crash loop: %s, last exit code %d", english.Plural(restarts, "restart"), t.ExitCode)
		return exited(c, CrashLoop, t, text+hookText(c)+probeText(c)), true
	case !c.Restarts && t.ExitCode != 0:
		return exited(c, ContainerExited, t, fmt.Sprintf("ended with exit code %d and is not restarted", t.ExitCode)), true
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
	return exited(c, ContainerExited, t, text), true
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

func memoryText(c evidence.Container) string {
	if c.MemoryLimit == "" {
		return "ran out of memory (OOMKilled); it has no memory limit of its own"
	}
	return "ran out of memory (OOMKilled), its limit is " + c.MemoryLimit
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

// hookText names the hook for which the kubelet ends the container.
func hookText(c evidence.Container) string {
	if e := evidence.Latest(c.Events, "FailedPostStartHook"); e != nil {
		return "; its post-start hook failed: " + evidence.Text(e)
	}
	return ""
}

// probeText names the probe for which the kubelet kills the container.
func probeText(c evidence.Container) string {
	killed, probe := evidence.Latest(c.Events, "Killing"), evidence.Latest(c.Events, unhealthy)
	if killed == nil || probe == nil {
		return ""
	}
	return "; " + evidence.Text(probe)
}

// probed is what a probe has to do with the end of a container.
func probed(c v1.Cause, a About) string {
	if !strings.Contains(c.Message, "probe failed") {
		return ""
	}
	return "It is ended because of its probe. " + asked(c, a)
}

// exitText says in words what an exit code means. Codes above 128 are
// signals; 126 and 127 are what a shell says.
func exitText(code *int) string {
	if code == nil {
		return ""
	}
	switch n := *code; {
	case n == 0:
		return "It ended by itself, with exit code 0, though it should keep running."
	case n == 126:
		return "Exit code 126: a program was found, but may not be executed."
	case n == 127:
		return "Exit code 127: a program was not found."
	case n > 128 && signals()[n-128] != "":
		return fmt.Sprintf("Exit code %d is %s.", n, signals()[n-128])
	default:
		return fmt.Sprintf("Its program ended with exit code %d.", n)
	}
}

// signals by their numbers on Linux, which is where the containers are, and
// what usually sends them.
func signals() map[int]string {
	return map[int]string{
		1:  "SIGHUP: its terminal went away",
		2:  "SIGINT: it was interrupted",
		3:  "SIGQUIT: it was asked to quit",
		4:  "SIGILL: an instruction that this processor does not have",
		6:  "SIGABRT: the program aborted itself, as after a failed assertion",
		7:  "SIGBUS: memory that cannot be reached, as when /dev/shm is full",
		8:  "SIGFPE: an impossible calculation, such as a division by zero",
		9:  "SIGKILL: it was killed from outside, as after a failing liveness probe or a stop that took too long",
		11: "SIGSEGV: the program crashed by using memory that is not its own",
		13: "SIGPIPE: the reader of its output went away",
		15: "SIGTERM: it was asked to terminate",
	}
}
