package detect

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// ProbeFails is the probe that says no to the instance that runs.
func ProbeFails(c evidence.Container) *cause.Finding {
	e := evidence.Latest(c.Events, unhealthy)
	// The event's time has whole seconds.
	if e == nil || evidence.LastSeen(e).Before(c.Status.State.Running.StartedAt.Truncate(time.Second)) {
		return nil
	}
	if strings.Contains(e.Message, "errored and resulted in unknown state") {
		return nil // it could not be asked, because its container was just ending
	}
	f := of(c, cause.ProbeFailed, e.Reason, "%s", evidence.Text(e))
	f.Begun = evidence.Later(evidence.FirstSeen(e), c.Status.State.Running.StartedAt.Time)
	return withRestarts(f, c)
}

// GateClosed is the readiness gate that a pod waits for whose containers are ready.
func GateClosed(p evidence.Pod) *cause.Finding {
	gate := p.ClosedGate()
	if gate == "" || !p.ContainersReady() {
		return nil
	}
	f := ofPod(p, cause.ReadinessGate, "every container is ready, but not the readiness gate "+gate)
	f.Begun = p.Since(corev1.ContainersReady)
	return f
}

// Silent is what the pod has been doing since a time without a word about why it takes
// long; nil if nothing is. It is for the caller to say how long it may.
func Silent(p evidence.Pod) *cause.Finding {
	for _, c := range p.Containers {
		running := c.Status.State.Running
		switch {
		case c.IsReady() || running == nil || c.Init && c.IsInitialized():
			continue
		case c.Init && !c.Sidecar:
			f := of(c, cause.SlowInit, "", "init container has been running")
			f.Begun = running.StartedAt.Time
			return f
		case c.Serves():
			text := "is not ready and has been running"
			if !c.Probed {
				text = "is not ready though it has no probe, and has been running"
			}
			f := of(c, cause.SlowStart, "", "%s", text)
			f.Begun = running.StartedAt.Time
			return f
		}
	}
	return nil
}
