package cause

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pattern"
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
		return withWords(exited(c, ContainerExited, t,
			fmt.Sprintf("ended with exit code %d and is not restarted", t.ExitCode)), t), true
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

// The exit codes of what was ended from outside: SIGKILL and SIGTERM.
const exitKilled, exitTerminated = 137, 143

// probed is what a probe has to do with the end of a container.
func probed(c v1.Cause, a About) string {
	if !strings.Contains(c.Message, "probe failed") {
		return ended(c, a)
	}
	return "It is ended because of its probe, which may be given more time (initialDelaySeconds, timeoutSeconds, a startup probe). " + answer(c, a)
}

// ended says in words how a container ended.
func ended(c v1.Cause, _ About) string { return exitText(c.ExitCode) }

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
	case signals()[n-128] != "":
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
	if c.Hook == "" || !waiting || reason != "" && reason != evidence.ContainerCreating &&
		reason != evidence.PodInitializing {
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
