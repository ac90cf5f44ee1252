package cause

import (
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

func readiness() []entry {
	return []entry{
		{
			code: ProbeFailed, reasons: []string{unhealthy}, why: asked,
			hint: "{container} runs, but does not say that it is ready. {why} It may need more time, or listen on another port or address. {last-words}",
		},
		{
			code: ReadinessGate,
			hint: "Something else has to say that the pod is ready, such as a load balancer's controller: see whether that runs, or remove the readiness gate from {spec}.",
		},
	}
}

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
func asked(_ v1.Cause, a About) string {
	if a.Probe == "" {
		return "The probe that checks it gets no good answer."
	}
	return "The probe asks for " + a.Probe + " and gets no good answer."
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
	if reason, message, _ := c.Waiting(); message != "" && reason != evidence.CrashLoopBackOff {
		f, ignored := stuck(c)
		if !ignored {
			f = of(c, slowCode(reason), reason, "%s", message)
		}
		return &f
	}
	if f, ok := endedOnce(c); ok {
		return &f
	}
	return nil
}
