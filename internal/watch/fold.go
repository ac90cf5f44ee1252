package watch

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/watch/evidence"
)

const (
	// Of the events about one object with one reason, the first are kept, and the
	// newest; those in between are counted. A controller may write an event of its
	// own for each attempt.
	firstEvents, newestEvents = 3, 8
	// mostEvents is how many are kept of all, the newest of them.
	mostEvents = 256
)

// eventKind is what makes an event one of many.
type eventKind struct {
	object types.UID
	field  string
	reason string
}

// withEvent adds an event, or what is new of one, and folds those of its kind if they
// are too many.
func (s State) withEvent(e *corev1.Event) State {
	_, known := s.objects[e.UID]
	s.objects = with(s.objects, e.UID, e)
	if known {
		return s
	}
	events := all[*corev1.Event](s.objects)
	var alike []*corev1.Event
	for _, other := range events {
		if kindOfEvent(other) == kindOfEvent(e) {
			alike = append(alike, other)
		}
	}
	switch {
	case len(alike) > firstEvents+newestEvents: // s.objects is a copy already
		last, folded := alike[firstEvents-1].DeepCopy(), alike[firstEvents]
		last.Count, last.Series = int32(min(evidence.Count(last)+evidence.Count(folded), 1<<31-1)), nil
		if seen := evidence.LastSeen(folded); seen.After(evidence.LastSeen(last)) {
			last.LastTimestamp = metav1.NewTime(seen)
		}
		s.objects[last.UID] = last
		delete(s.objects, folded.UID)
	case len(events) > mostEvents:
		delete(s.objects, events[0].UID)
	}
	return s
}

func kindOfEvent(e *corev1.Event) eventKind {
	return eventKind{e.InvolvedObject.UID, e.InvolvedObject.FieldPath, e.Reason}
}
