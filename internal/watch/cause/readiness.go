package cause

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which what runs is not ready. They fail nothing: either may
// still become ready.
const (
	ProbeFailed   = "ProbeFailed"   // runs, but its probe says no
	ReadinessGate = "ReadinessGate" // everything is ready but a condition set by others
)

const unhealthy = "Unhealthy"

// probeFails is the probe that says no to the instance that runs.
func probeFails(c evidence.Container) *Finding {
	e := evidence.Latest(c.Events, unhealthy)
	// The event's time has whole seconds.
	if e == nil || evidence.LastSeen(e).Before(c.Status.State.Running.StartedAt.Truncate(time.Second)) {
		return nil
	}
	if strings.Contains(e.Message, "errored and resulted in unknown state") {
		return nil // it could not be asked, because its container was just ending
	}
	f := of(c, ProbeFailed, e.Reason, "%s", evidence.Text(e))
	f.Begun = evidence.Later(evidence.FirstSeen(e), c.Status.State.Running.StartedAt.Time)
	if n := c.Status.RestartCount; n > 0 {
		f.Restarts = number(n)
	}
	return &f
}

// gateClosed is the readiness gate that a pod waits for whose containers are ready.
func gateClosed(p evidence.Pod) *Finding {
	gate := p.ClosedGate()
	if gate == "" || !p.ContainersReady() {
		return nil
	}
	f := ofPod(p, ReadinessGate, "every container is ready, but not the readiness gate "+gate)
	f.Begun = p.Since(corev1.ContainersReady)
	return f
}

// asked says what the probe asks for.
func asked(a About) string {
	if a.Probe == "" {
		return "The probe that checks it gets no good answer."
	}
	return "The probe asks for " + a.Probe + " and gets no good answer."
}

// answer says what a probe asks for, and what the answer means.
func answer(c v1.Cause, a About) string {
	for _, known := range []struct{ words, text string }{
		{"connection refused", "Nothing listens on that port: the program needs more time, has ended, or listens on another port or on 127.0.0.1 only."},
		{"statuscode: 404", "The program answers, but has no such path: correct the path of the probe in " + a.spec() + "."},
		{"statuscode: 401", "The program answers, but wants a login: have the probe ask for a path that does without."},
		{"statuscode: 403", "The program answers, but wants a login: have the probe ask for a path that does without."},
		{"statuscode: 5", "The program answers, and says that it is not well."},
		{"HTTP response to HTTPS client", "The program speaks HTTP: set the scheme of the probe to HTTP in " + a.spec() +
			"."},
		{"no such file or directory", "The image has no such program: correct the command of the probe in " + a.spec() + "."},
		{"executable file not found", "The image has no such program: correct the command of the probe in " + a.spec() + "."},
		{"deadline exceeded", "It does not answer in time: raise timeoutSeconds of the probe in " + a.spec() +
			", or see what keeps it busy."},
		{"timed out", "It does not answer in time: raise timeoutSeconds of the probe in " + a.spec() +
			", or see what keeps it busy."},
		{"Client.Timeout", "It does not answer in time: raise timeoutSeconds of the probe in " + a.spec() +
			", or see what keeps it busy."},
	} {
		if strings.Contains(c.Message, known.words) {
			return asked(a) + " " + known.text
		}
	}
	return asked(a) + " It may need more time, or listen on another port or address."
}

// OfUnready is what is known of why a pod that has a node does not get on; nil if
// nothing is.
func OfUnready(p evidence.Pod) *Finding {
	if !p.Sandboxed() {
		if c := notMounted(p); c != nil {
			return c
		}
		if c := noSandbox(p); c != nil {
			return c
		}
	}
	for _, c := range p.Containers {
		if found := unready(c); found != nil {
			return found
		}
	}
	return gateClosed(p)
}

// unready is why one container is not ready: its probe fails, the kubelet has
// trouble that should pass, or it was restarted.
func unready(c evidence.Container) *Finding {
	if c.IsReady() || c.Init && c.IsInitialized() && !c.Sidecar {
		return nil
	}
	if c.Status.State.Running != nil {
		return probeFails(c)
	}
	if f := hookWait(c); f != nil {
		return f
	}
	if reason, message, _ := c.Waiting(); message != "" && reason != evidence.CrashLoopBackOff {
		f, ignored := stuck(c)
		if !ignored {
			f = notStarted(c, reason, message)
		}
		return &f
	}
	if f, ok := endedOnce(c); ok {
		return &f
	}
	return hookRuns(c)
}

// The causes of what has gone on for long while nothing says why. They fail nothing: it
// may be work.
const (
	SlowInit  = "SlowInit"  // an init container that runs
	SlowPull  = "SlowPull"  // an image that is being pulled
	SlowStart = "SlowStart" // a container that runs and is not ready
)

// longAfter is how long something goes on before it is worth a word.
const longAfter = 5 * time.Minute

// OfSilent is what the pod has been doing since a time without a word about why it takes
// long; nil if nothing is. It is for the caller to say how long it may.
func OfSilent(p evidence.Pod) *Finding {
	for _, c := range p.Containers {
		running := c.Status.State.Running
		switch {
		case c.IsReady() || running == nil || c.Init && c.IsInitialized():
			continue
		case c.Init && !c.Sidecar:
			f := of(c, SlowInit, "", "init container has been running")
			f.Begun = running.StartedAt.Time
			return &f
		case c.Serves():
			text := "is not ready and has been running"
			if !c.Probed {
				text = "is not ready though it has no probe, and has been running"
			}
			f := of(c, SlowStart, "", "%s", text)
			f.Begun = running.StartedAt.Time
			return &f
		}
	}
	return nil
}

// IsSlow is true for a cause that only says that something takes long.
func IsSlow(c *v1.Cause) bool {
	return slices.Contains([]string{SlowInit, SlowPull, SlowStart}, c.Code)
}

// OfPull is an image that has been coming since a time.
func OfPull(container, image string, since time.Time) *Finding {
	f := of(evidence.Container{Name: container}, SlowPull, "", "image %s has been coming", image)
	f.Begun = since
	return &f
}

// Lasting is how long a finding has lasted, in steps, as a part of a sentence, and when
// the next step is.
func Lasting(f Finding, now time.Time) (text string, next time.Time) {
	for _, step := range []struct {
		after time.Duration
		text  string
	}{
		{longAfter, "5 minutes"},
		{15 * time.Minute, "15 minutes"},
		{time.Hour, "an hour"},
		{6 * time.Hour, "6 hours"},
		{24 * time.Hour, "a day"},
	} {
		if next = f.Begun.Add(step.after); now.Before(next) {
			return text, next
		}
		text = "for more than " + step.text
	}
	return text, time.Time{}
}

// silentStart says where to look.
func silentStart(_ v1.Cause, a About) string {
	if a.Probe == "" {
		return "It has no probe, so that it should be ready at once: the node may have stopped reporting (`kubectl get nodes`)."
	}
	return "Its probe asks for " + a.Probe + "; no event says what it gets, as they are kept for an hour."
}
