package watch

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
)

// said is what has been handed out, to tell what is new.
type said struct {
	snapshot v1.Snapshot // without its warnings, which repeat by themselves
	warnings map[warningKind]int
	events   map[types.UID]int
}

// newSaid begins with a subject of which nothing is known: that is no news.
func newSaid(subject Subject) said {
	return said{snapshot: absent(subject, false), warnings: map[warningKind]int{}, events: map[types.UID]int{}}
}

// update notes a reading and says what is new in it.
func (s *said) update(state State, snapshot v1.Snapshot) Change {
	change := Change{Snapshot: snapshot}
	bare := snapshot
	bare.Warnings = nil
	if change.Changed = !reflect.DeepEqual(s.snapshot, bare); change.Changed {
		s.snapshot = bare
	}
	for _, w := range snapshot.Warnings {
		kind := warningKind{w.Object, w.Reason, messageKind(w.Message)}
		if w.Count > s.warnings[kind] {
			s.warnings[kind] = w.Count
			change.Warnings = append(change.Warnings, w)
		}
	}
	for _, e := range state.subjectEvents() {
		if n := count(e); n > s.events[e.UID] {
			s.events[e.UID] = n
			change.Objects = append(change.Objects, ObjectEvent(e))
		}
	}
	return change
}

// subjectEvents are the events about the subject and what belongs to it: the
// pod and its claims, or the workload and its pods; in the order they came.
func (s State) subjectEvents() []*corev1.Event {
	var uids []types.UID
	if pod, _ := s.Pod(); s.subject.isPod() && pod != nil {
		uids = append(uids, pod.UID)
		for _, c := range claimsOf(s, pod) {
			uids = append(uids, c.pvc.UID)
		}
	} else if w, ok := s.workload(); ok {
		uids = append(uids, w.object.GetUID(), w.owner)
		for _, pod := range s.podsOf(w) {
			uids = append(uids, pod.UID)
		}
	}
	return slices.DeleteFunc(all[*corev1.Event](s.objects), func(e *corev1.Event) bool {
		return !slices.Contains(uids, e.InvolvedObject.UID)
	})
}
