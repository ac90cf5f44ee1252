package follow

import (
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// reported is what has been handed out, to know what is new.
type reported struct {
	snapshot v1.Snapshot // without its warnings, which repeat by themselves
	warnings map[watch.WarningKind]v1.Warning
	events   map[types.UID]int
}

// nothingReported begins with a subject of which nothing is known: that is not new.
func nothingReported(subject watch.Subject) reported {
	nothing, _ := watch.Analyze(watch.NewState(subject), cause.Policy{}, time.Time{})
	return reported{snapshot: nothing, warnings: map[watch.WarningKind]v1.Warning{}, events: map[types.UID]int{}}
}

// mostReported is how many events are remembered; beyond it, those that are still
// known.
const mostReported = 4096

// update notes a reading and says what is new in it.
func (r *reported) update(state watch.State, snapshot v1.Snapshot) Change {
	change := Change{Snapshot: snapshot}
	bare := snapshot
	bare.Warnings = nil
	if change.Changed = !reflect.DeepEqual(r.snapshot, bare); change.Changed {
		r.snapshot = bare
	}
	for _, w := range snapshot.Warnings {
		kind := watch.KindOf(w)
		if before := r.warnings[kind]; w.Count > before.Count || before.Tentative && !w.Tentative {
			r.warnings[kind] = w
			change.Warnings = append(change.Warnings, w)
		}
	}
	events := state.Events()
	for _, e := range events {
		if n := evidence.Count(e); n > r.events[e.UID] {
			r.events[e.UID] = n
			change.Objects = append(change.Objects, watch.ObjectEvent(e))
		}
	}
	if len(r.events) > mostReported {
		r.events = map[types.UID]int{}
		for _, e := range events {
			r.events[e.UID] = evidence.Count(e)
		}
	}
	return change
}
