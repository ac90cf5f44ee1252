package watch

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
)

// said is what has been handed out, to tell what is new.
type said struct {
	snapshot v1.Snapshot // without its warnings, which repeat by themselves
	warnings map[WarningKind]int
	events   map[types.UID]int
}

// newSaid begins with a subject of which nothing is known: that is no news.
func newSaid(subject Subject) said {
	nothing, _ := Analyze(NewState(subject), Policy{}, time.Time{})
	return said{snapshot: nothing, warnings: map[WarningKind]int{}, events: map[types.UID]int{}}
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
		kind := KindOf(w)
		if w.Count > s.warnings[kind] {
			s.warnings[kind] = w.Count
			change.Warnings = append(change.Warnings, w)
		}
	}
	for _, e := range state.Events() {
		if n := Count(e); n > s.events[e.UID] {
			s.events[e.UID] = n
			change.Objects = append(change.Objects, ObjectEvent(e))
		}
	}
	return change
}
