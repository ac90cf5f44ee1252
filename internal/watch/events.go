package watch

import (
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// eventsAbout gives the events about objects, the latest last. They belong by
// UID: names are used again, and an event lives for an hour.
//
// The order is that in which they were written, not that of their times, which
// have whole seconds only. A repeated event is one object that is written again,
// so its place is where it was seen last. Where a dump does not say how they were written, their times have to do.
func (s State) eventsAbout(uids ...types.UID) []*corev1.Event {
	events := slices.DeleteFunc(all[*corev1.Event](s.objects), func(e *corev1.Event) bool {
		uid := e.InvolvedObject.UID
		return uid == "" || !slices.Contains(uids, uid)
	})
	if slices.ContainsFunc(events, func(e *corev1.Event) bool { return e.ResourceVersion == "" }) {
		slices.SortStableFunc(events, func(a, b *corev1.Event) int {
			return evidence.LastSeen(a).Compare(evidence.LastSeen(b))
		})
	}
	return events
}

// Events are the events about the subject and what belongs to it: the
// pod and its claims, or the workload and its pods; in the order they came.
func (s State) Events() []*corev1.Event {
	var uids []types.UID
	if pod, _ := s.Pod(); s.subject.isPod() && pod != nil {
		uids = append(uids, pod.UID)
		for _, c := range s.claimsOf(pod) {
			uids = append(uids, c.UID)
		}
	} else if w, ok := s.workload(); ok {
		uids = append(uids, w.uid, w.owner)
		for _, pod := range s.podsOf(w) {
			uids = append(uids, pod.UID)
		}
	}
	return s.eventsAbout(uids...)
}

// ObjectEvent is an event as it is printed.
func ObjectEvent(e *corev1.Event) v1.ObjectEvent {
	return v1.ObjectEvent{
		Object:  evidence.ObjectOf(e),
		Type:    e.Type,
		Reason:  e.Reason,
		Message: strings.TrimSpace(e.Message),
		Count:   evidence.Count(e),
	}
}

// ObjectEvents are events as they are listed: repeats folded into one with the
// newest message and the sum of the counts, the one that happened last at the
// end. Of one object and reason, no more than a few messages are told apart.
func ObjectEvents(events []*corev1.Event) []v1.ObjectEvent {
	at, last, messages := map[WarningKind]int{}, map[WarningKind]int{}, map[WarningKind]int{}
	var folded []v1.ObjectEvent
	for _, e := range slices.SortedStableFunc(slices.Values(events), byVersion) {
		one := ObjectEvent(e)
		one.FirstAt, one.At = evidence.FirstSeen(e).UTC(), evidence.LastSeen(e).UTC()
		same := WarningKind{one.Object, one.Type + " " + one.Reason, messageKind(one.Message)}
		i, known := at[same]
		alike := WarningKind{object: same.object, reason: same.reason}
		if !known && messages[alike] >= mostMessages {
			i, known = last[alike], true
		}
		if !known {
			messages[alike]++
			at[same], last[alike] = len(folded), len(folded)
			folded = append(folded, one)
			continue
		}
		folded[i] = merged(folded[i], one)
	}
	// Most components give whole seconds, and the scheduler's microseconds would
	// put an event after what it caused.
	slices.SortStableFunc(folded, func(a, b v1.ObjectEvent) int {
		return a.At.Truncate(time.Second).Compare(b.At.Truncate(time.Second))
	})
	return folded[max(len(folded)-mostListed, 0):]
}

// mostListed is how many events are listed, the newest of them.
const mostListed = 200

// merged makes one event of two that are the same but for numbers.
func merged(a, b v1.ObjectEvent) v1.ObjectEvent {
	if b.At.Before(a.At) {
		a, b = b, a
	}
	b.Count += a.Count
	if a.FirstAt.Before(b.FirstAt) {
		b.FirstAt = a.FirstAt
	}
	b.Message = evidence.WithoutCombined(b.Message)
	return b
}

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
