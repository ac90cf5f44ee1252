package watch

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Severity is what an event means for somebody who waits.
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
	// Excused is true if the failure that the event tells of does not count: its
	// cause is ignored, or in its grace period.
	Excused bool
}

// Classify says what an event means, by the flow's severity table. What the
// table does not name is a warning if Kubernetes calls it one.
func Classify(e *corev1.Event, c Circumstances, p Policy) Severity {
	meaning := meaningOf(e)
	severity := severityOf(meaning, e, c, p)
	if severity == Critical && (c.Excused || p.ignores(meaning, e.Reason)) {
		return Warning
	}
	return severity
}

func severityOf(meaning string, e *corev1.Event, c Circumstances, p Policy) Severity {
	switch meaning {
	case reasonImagePullBackOff, reasonErrImagePull, reasonInvalidImageName,
		reasonErrImageNeverPull, reasonOOMKilled:
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
		// The autoscaler calls NotTriggerScaleUp normal; who waits for a node
		// that will not come sees it otherwise.
		return Warning
	}
	if e.Type == corev1.EventTypeWarning {
		return Warning
	}
	return Info
}

// The kubelet's words for why a container waits or ended.
const (
	reasonErrImagePull      = "ErrImagePull"
	reasonImagePullBackOff  = "ImagePullBackOff"
	reasonInvalidImageName  = "InvalidImageName"
	reasonErrImageNeverPull = "ErrImageNeverPull"
	reasonOOMKilled         = "OOMKilled"
	reasonCrashLoopBackOff  = "CrashLoopBackOff"
	reasonStartError        = "StartError"
	reasonPodInitializing   = "PodInitializing"
	reasonContainerCreating = "ContainerCreating"
)

// meaningOf gives the severity table's name for an event. The table's names are
// the reasons of a container's status; the kubelet's events of the same thing
// are Failed, BackOff and InspectFailed, which only the text tells apart.
func meaningOf(e *corev1.Event) string {
	text := textOf(e)
	switch e.Reason {
	case "Failed":
		if strings.HasPrefix(text, "Failed to pull image") {
			return reasonErrImagePull
		}
		switch word := strings.TrimPrefix(text, "Error: "); word {
		case reasonErrImagePull, reasonImagePullBackOff, reasonInvalidImageName, reasonErrImageNeverPull:
			return word
		}
	case "BackOff":
		if strings.HasPrefix(text, "Back-off pulling image") {
			return reasonImagePullBackOff
		}
	case "InspectFailed":
		// The same reason is used when the runtime could not answer.
		if !strings.HasPrefix(text, "Failed to inspect image") {
			return reasonInvalidImageName
		}
	}
	return e.Reason
}
