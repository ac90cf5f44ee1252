package watch

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// reportedAs is the status of a stage. A pod that carries the request to stop is
// Stopping until it has.
func reportedAs(stage v1.Stage, pod *corev1.Pod) v1.Status {
	if stage == v1.StageStopped || stage == v1.StageFailed {
		return stage.Status()
	}
	if pod.Annotations[kube.StopRequested] == "true" || pod.Labels[kube.StopRequested] == "true" {
		return v1.StatusStopping
	}
	return stage.Status()
}

func (r *reading) failed(f finding) standing {
	since := f.at
	if since.IsZero() {
		since = r.endedAt()
	}
	return standing{stage: v1.StageFailed, since: since, message: f.cause.Message, why: &f}
}

// endedAt is when the last container ended.
func (r *reading) endedAt() time.Time {
	var at time.Time
	for _, c := range r.containers {
		if t := c.status.State.Terminated; t != nil {
			at = later(at, t.FinishedAt.Time)
		}
	}
	return at
}

func (r *reading) scheduling() standing {
	why, message := r.whyUnscheduled(), ""
	if c := kube.Condition(r.pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse && why != nil && !r.tentative(*why) {
		message = shortSchedule(c.Message)
	}
	if claim := r.pendingClaim(); claim != nil {
		why = claim
	}
	if r.growing() != nil {
		message = joined(message, "a node is being added")
	}
	return standing{stage: v1.StageScheduling, since: r.pod.CreationTimestamp.Time, message: message, why: why}
}

// pullingImages: the image that has been coming the longest; a big one is
// progress, not a hang.
func (r *reading) pullingImages() standing {
	first := r.pulls[0]
	for _, p := range r.pulls {
		if p.since.Before(first.since) {
			first = p
		}
	}
	return standing{stage: v1.StagePulling, since: first.since, message: shortImage(first.image)}
}

func (r *reading) initializing(c container) standing {
	return standing{
		stage:   v1.StageInitializing,
		since:   r.since(corev1.PodScheduled),
		message: c.name,
		why:     r.whyWaiting(),
	}
}

func (r *reading) starting(what string) standing {
	since := later(r.since(corev1.PodScheduled), r.since(corev1.PodInitialized))
	for _, c := range r.containers {
		if c.init && !c.sidecar {
			since = later(since, c.initializedAt())
		}
	}
	return standing{stage: v1.StageStarting, since: since, message: what, why: r.whyWaiting()}
}

// unready says what keeps the pod from being ready: a container, a readiness
// gate, or that the pod's condition is still to come. Empty if nothing does.
func (r *reading) unready() string {
	for _, c := range r.containers {
		if c.serves() && !c.ready() {
			return c.progress()
		}
	}
	if gate := r.closedGate(); gate != "" {
		return "readiness gate " + gate
	}
	if !kube.IsReady(r.pod) {
		return "the pod is not marked ready yet"
	}
	return ""
}

// closedGate is the first readiness gate whose condition is not true.
func (r *reading) closedGate() string {
	for _, gate := range r.pod.Spec.ReadinessGates {
		if c := kube.Condition(r.pod, gate.ConditionType); c == nil || c.Status != corev1.ConditionTrue {
			return string(gate.ConditionType)
		}
	}
	return ""
}

// progress is what a container that is not ready is doing.
func (c container) progress() string {
	text := c.name
	state := c.status.State
	switch {
	case state.Running != nil && !c.started():
		text += " has not passed its startup probe"
	case state.Running != nil:
		text += " is not ready"
	case c.ended() != nil:
		text += fmt.Sprintf(" ended with exit code %d", c.ended().ExitCode)
	default:
		text += " is being created"
	}
	if n := int(c.status.RestartCount); n > 0 {
		text += ", " + plural(n, "restart")
	}
	return text
}

func joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "; " + b
}
