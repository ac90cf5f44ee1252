package watch

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// inGrace is true while the policy still waits for a cause to pass. It counts
// from when the cause began, or from the pod's last progress if that is later:
// both stand in the state, so that a reading needs to remember nothing.
func (r *reading) inGrace(f finding) bool {
	if !f.passes || !r.policy.Patient() {
		return false
	}
	end := later(f.begun, r.progressedAt()).Add(r.policy.GracePeriod)
	if !r.now.Before(end) {
		return false
	}
	r.askAt(end)
	return true
}

// progressedAt is when the pod last got on: a condition became true, a container
// started or an init container was done, an image or a volume arrived, a node is
// being added.
func (r *reading) progressedAt() time.Time {
	at := r.pod.CreationTimestamp.Time
	for _, kind := range []corev1.PodConditionType{
		corev1.PodScheduled, corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady,
	} {
		if c := kube.Condition(r.pod, kind); c != nil && c.Status == corev1.ConditionTrue {
			at = later(at, c.LastTransitionTime.Time)
		}
	}
	for _, c := range r.containers {
		switch state := c.status.State; {
		case state.Running != nil && c.status.RestartCount == 0:
			at = later(at, state.Running.StartedAt.Time)
		case state.Terminated != nil && state.Terminated.ExitCode == 0 && c.init:
			at = later(at, state.Terminated.FinishedAt.Time)
		}
	}
	if e := r.growing(); e != nil {
		at = later(at, lastSeen(e))
	}
	for _, e := range r.events {
		switch e.Reason {
		case "Pulled", "SuccessfulAttachVolume", "Scheduled":
			at = later(at, firstSeen(e))
		}
	}
	return at
}

// excuse notes a finding that fails nothing yet, with the words that say so.
func (r *reading) excuse(f finding) {
	f.cause.Message += " (may pass: waiting up to " + r.policy.graceText() + ")"
	r.graced = append(r.graced, f)
}

// overdue says of a cause that it had its time.
func (r *reading) overdue(f finding) finding {
	if f.passes && r.policy.Patient() {
		f.cause.Message += " (did not pass within " + r.policy.graceText() + ")"
	}
	return f
}

// excused is true for a container or a claim of which a failure does not count,
// because it is ignored or in its grace period.
func (r *reading) excused(name string) bool {
	for _, list := range [][]finding{r.graced, r.ignored} {
		for _, f := range list {
			if name != "" && (f.cause.Container == name || f.cause.Object == name) {
				return true
			}
		}
	}
	return false
}

// slow are the causes that fail nothing by the severity table, but for which the
// patient policy does not wait without end: a node that is being added, and a
// volume that has to leave another node first.
func (r *reading) slow() []finding {
	if !r.policy.Patient() {
		return nil
	}
	if r.pod.Spec.NodeName == "" {
		f := r.whyUnscheduled()
		if f == nil || r.growing() == nil || r.pendingClaim() != nil {
			return nil
		}
		f.passes = true
		return []finding{*f}
	}
	if e := r.multiAttach(); e != nil {
		f := r.podFinding(CauseVolumeNotMounted, e)
		f.passes = true
		return []finding{*f}
	}
	return nil
}

// multiAttach is the event that a volume is still attached to another node,
// until it is attached to this one or the pod has all it needs.
func (r *reading) multiAttach() *corev1.Event {
	e := latest(r.events, "FailedAttachVolume", "SuccessfulAttachVolume")
	if r.sandboxed() || e == nil || !strings.Contains(e.Message, "Multi-Attach") {
		return nil
	}
	return e
}

// graceWarnings are the causes in their grace period of which no event tells:
// the status can be ahead of the events, and they live for an hour only.
func (r *reading) graceWarnings(told []v1.Warning) (warnings []v1.Warning) {
	for _, f := range r.graced {
		object := reference(KindPod, r.pod.Name) + ":" + f.cause.Container
		if f.cause.Container == "" || warned(told, object) {
			continue
		}
		at := later(f.begun, r.progressedAt())
		warnings = append(warnings, v1.Warning{Reason: f.reason, Message: f.cause.Message, Count: 1, Object: object, At: at.UTC()})
	}
	return warnings
}

func warned(told []v1.Warning, object string) bool {
	for _, w := range told {
		if w.Object == object {
			return true
		}
	}
	return false
}
