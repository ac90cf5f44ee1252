package watch

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Severity says what an event means while a workspace is awaited.
type Severity int

// The severities. Critical events end provisioning, warnings are passed on.
const (
	Info Severity = iota
	Warning
	Critical
)

func (s Severity) String() string { return [...]string{"info", "warning", "critical"}[s] }

// Circumstances are the facts beside an event that decide what it means.
type Circumstances struct {
	// Restarts is the restart count of the container that the event is about.
	Restarts int
	// Bound is true if the claim that the event is about is bound by now.
	Bound bool
	// Excused is true if the failure that the event reports does not count: its
	// cause is ignored, or in its grace period.
	Excused bool
}

// Classify says what an event means, by the flow's severity table. What the
// table does not name is a warning if Kubernetes calls it one.
func Classify(e *corev1.Event, c Circumstances, p cause.Policy) Severity {
	meaning := evidence.Meaning(e)
	severity := severityOf(meaning, e, c, p)
	if severity == Critical && (c.Excused || p.Ignores(meaning, e.Reason)) {
		return Warning
	}
	return severity
}

func severityOf(meaning string, e *corev1.Event, c Circumstances, p cause.Policy) Severity {
	switch meaning {
	case evidence.ImagePullBackOff, evidence.ErrImagePull, evidence.InvalidImageName,
		evidence.ErrImageNeverPull, evidence.OOMKilled:
		return Critical
	case "BackOff":
		if c.Restarts > p.CrashLoopThreshold {
			return Critical
		}
		return Warning
	case "FailedBinding":
		if c.Bound {
			return Info
		}
		return Critical
	case "ProvisioningFailed", "FailedScheduling", "Unhealthy", "NotTriggerScaleUp":
		// The autoscaler calls NotTriggerScaleUp normal, but without it there is no
		// node.
		return Warning
	}
	if e.Type == corev1.EventTypeWarning {
		return Warning
	}
	return Info
}
