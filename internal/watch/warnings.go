package watch

import (
	"regexp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// warnings are the pod's and its claims' events that are warnings, one for each
// object, reason and kind of message, the latest last. The scheduler's complaints
// are as tentative as the cause, and gone once the pod has a node.
func (r *reading) warnings(tentative bool, stage v1.Stage) []v1.Warning {
	var folded folder
	for _, e := range r.Events {
		if isPlacing(e.Reason) && r.Spec.NodeName != "" {
			continue
		}
		name := evidence.ContainerOf(e)
		facts := circumstances{restarts: r.restarts(name), tolerated: r.judged.Tolerates(name)}
		if facts.tolerated && evidence.PullFailed(e) && evidence.IsEcho(e) {
			continue
		}
		if isWarning(e, facts, r.policy) {
			folded.add(e)
		}
	}
	for _, c := range r.Claims {
		for _, e := range c.Events {
			facts := circumstances{bound: c.IsBound(), tolerated: r.judged.Tolerates(evidence.ObjectOf(e))}
			if isWarning(e, facts, r.policy) {
				folded.add(e)
			}
		}
	}
	for i := range folded.warnings {
		folded.warnings[i].Tentative = tentative && isPlacing(folded.warnings[i].Reason)
	}
	folded.warnings = append(folded.warnings, r.graceWarnings(folded.warnings)...)
	folded.warnings = append(folded.warnings, r.slowWarnings(stage)...)
	return folded.sorted()
}

// isPlacing is true for the reasons of events about a node that is looked for.
func isPlacing(reason string) bool {
	return reason == "FailedScheduling" || reason == "NotTriggerScaleUp"
}

// restarts is the restart count of a container.
func (r *reading) restarts(name string) int {
	for _, c := range r.Containers {
		if c.Name == name {
			return int(c.Status.RestartCount)
		}
	}
	return 0
}

// graceWarnings are the causes in their grace period that no event reports: the
// status can be ahead of the events, and they live for an hour only.
func (r *reading) graceWarnings(known []v1.Warning) (warnings []v1.Warning) {
	for _, f := range r.judged.Graced {
		object := r.Ref() + ":" + f.Container
		if f.Container == "" || slices.ContainsFunc(known, func(w v1.Warning) bool { return w.Object == object }) {
			continue
		}
		at := evidence.Later(f.Begun, r.ProgressedAt())
		warnings = append(warnings, v1.Warning{
			Reason: f.Reason, Message: f.Message, Count: 1, Object: object,
			At: at.UTC(),
		})
	}
	return warnings
}

// folder counts repeats of a warning.
type folder struct {
	kinds    []WarningKind
	warnings []v1.Warning
}

// WarningKind is what makes two warnings the same.
type WarningKind struct{ object, reason, message string }

func (f *folder) add(e *corev1.Event) {
	kind := WarningKind{evidence.ObjectOf(e), e.Reason, messageKind(evidence.Text(e))}
	i := slices.Index(f.kinds, kind)
	if alike := f.alike(kind); i < 0 && len(alike) >= mostMessages {
		i = alike[len(alike)-1]
		f.warnings[i].Count += evidence.Count(e)
		f.warnings[i].At = evidence.Later(f.warnings[i].At, evidence.LastSeen(e).UTC())
		return
	}
	if i < 0 {
		i = len(f.kinds)
		f.kinds = append(f.kinds, kind)
		f.warnings = append(f.warnings, v1.Warning{Reason: e.Reason, Object: kind.object})
	}
	w := &f.warnings[i]
	w.Count += evidence.Count(e)
	if at := evidence.LastSeen(e).UTC(); !at.Before(w.At) {
		w.At, w.Message = at, evidence.Text(e)
	}
}

// mostWarnings is how many there are, the newest of them.
const mostWarnings = 32

// mostMessages is how many messages of one object and reason are told apart.
const mostMessages = 3

// alike are the warnings of an object and a reason.
func (f *folder) alike(kind WarningKind) (at []int) {
	for i, other := range f.kinds {
		if other.object == kind.object && other.reason == kind.reason {
			at = append(at, i)
		}
	}
	return at
}

func (f *folder) sorted() []v1.Warning {
	slices.SortStableFunc(f.warnings, func(a, b v1.Warning) int { return a.At.Compare(b.At) })
	return f.warnings[max(len(f.warnings)-mostWarnings, 0):]
}

var (
	// The suffix that controllers give to names: without vowels and what looks like them.
	generatedName = regexp.MustCompile(`-[bcdfghjklmnpqrstvwxz2456789]{5}\b`)
	numbers       = regexp.MustCompile(`[0-9]+`)
)

// KindOf is what makes a warning the same as another.
func KindOf(w v1.Warning) WarningKind {
	return WarningKind{w.Object, w.Reason, messageKind(w.Message)}
}

// messageKind leaves out what differs from one repeat to the next: addresses,
// times, counts, generated names.
func messageKind(message string) string {
	message = evidence.WithoutCombined(message)
	return numbers.ReplaceAllString(generatedName.ReplaceAllString(message, "-*"), "#")
}

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
	case "ProvisioningFailed", "FailedScheduling", "Unhealthy", "NotTriggerScaleUp", "NodeNotReady", "FailedMount",
		"FailedAttachVolume", "FailedMapVolume":
		// The autoscaler calls NotTriggerScaleUp normal, but without it there is no
		// node.
		return true
	}
	return e.Type == corev1.EventTypeWarning
}
