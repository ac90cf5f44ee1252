package watch

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// warnings are the pod's and its claims' events that are warnings, one for each
// object, reason and kind of message, the latest last.
func (r *reading) warnings() []v1.Warning {
	var folded folder
	for _, e := range r.events {
		if isPlacing(e) && r.placing() {
			continue
		}
		facts := Circumstances{Restarts: restartCount(r.containers, e), Excused: r.excused(containerOf(e))}
		if facts.Excused && pullFailed(e) && isEcho(e) {
			continue
		}
		if Classify(e, facts, r.policy) == Warning {
			folded.add(e)
		}
	}
	for _, c := range r.claims {
		for _, e := range c.events {
			facts := Circumstances{Bound: c.bound(), Excused: r.excused(objectOf(e))}
			if Classify(e, facts, r.policy) == Warning {
				folded.add(e)
			}
		}
	}
	folded.warnings = append(folded.warnings, r.graceWarnings(folded.warnings)...)
	return folded.sorted()
}

// isPlacing is true for what is said of a place that is looked for.
func isPlacing(e *corev1.Event) bool {
	return e.Reason == "FailedScheduling" || e.Reason == "NotTriggerScaleUp"
}

// placing is true while the scheduler's complaints need no attention: the pod
// has just been made, and the volume that it needs is often not bound yet, or it
// has a node by now.
func (r *reading) placing() bool {
	if r.pod.Spec.NodeName != "" {
		return true
	}
	due := r.pod.CreationTimestamp.Add(r.policy.CauseDelay)
	if r.now.Before(due) {
		r.askAt(due)
		return true
	}
	return false
}

// restartCount is that of the container an event is about.
func restartCount(containers []container, e *corev1.Event) int {
	for _, c := range containers {
		if c.name == containerOf(e) {
			return int(c.status.RestartCount)
		}
	}
	return 0
}

// folder counts repeats of a warning.
type folder struct {
	kinds    []WarningKind
	warnings []v1.Warning
}

// WarningKind is what makes two warnings the same.
type WarningKind struct{ object, reason, message string }

func (f *folder) add(e *corev1.Event) {
	kind := WarningKind{objectOf(e), e.Reason, messageKind(e.Message)}
	i := slices.Index(f.kinds, kind)
	if i < 0 {
		i = len(f.kinds)
		f.kinds = append(f.kinds, kind)
		f.warnings = append(f.warnings, v1.Warning{Reason: e.Reason, Object: kind.object})
	}
	w := &f.warnings[i]
	w.Count += Count(e)
	if at := lastSeen(e).UTC(); !at.Before(w.At) {
		w.At, w.Message = at, textOf(e)
	}
}

func (f *folder) sorted() []v1.Warning {
	slices.SortStableFunc(f.warnings, func(a, b v1.Warning) int { return a.At.Compare(b.At) })
	return f.warnings
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
	message = strings.TrimPrefix(message, combined)
	return numbers.ReplaceAllString(generatedName.ReplaceAllString(message, "-*"), "#")
}
