package watch

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// circumstances are the facts beside an event that decide what it means.
type circumstances struct {
	restarts int  // of the container that the event is about
	bound    bool // the claim that the event is about is bound meanwhile
	// tolerated is true if the failure that the event reports does not count: its
	// cause is ignored, or in its grace period.
	tolerated bool
}

// isWarning reports whether an event is passed on as a warning, by the flow's
// severity table. What the table calls critical is the cause of a failure, and a
// warning only if that is tolerated. What it does not name is a warning if
// Kubernetes calls it one.
func isWarning(e *corev1.Event, c circumstances, p cause.Policy) bool {
	meaning := evidence.Meaning(e)
	tolerated := c.tolerated || p.Ignores(meaning, e.Reason)
	switch meaning {
	case evidence.ImagePullBackOff, evidence.ErrImagePull, evidence.InvalidImageName,
		evidence.ErrImageNeverPull, evidence.OOMKilled:
		return tolerated
	case "BackOff":
		return tolerated || c.restarts <= p.CrashLoopThreshold
	case "FailedBinding":
		return tolerated && !c.bound
	case "ProvisioningFailed", "FailedScheduling", "Unhealthy", "NotTriggerScaleUp":
		// The autoscaler calls NotTriggerScaleUp normal, but without it there is no
		// node.
		return true
	}
	return e.Type == corev1.EventTypeWarning
}
