package follow

import (
	"context"
	"reflect"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// Change is what is new since the change before.
type Change struct {
	// Snapshot is the reading as it is now.
	Snapshot v1.Snapshot
	// Changed is false if only a warning was repeated, or nothing but the other
	// fields is new.
	Changed bool
	// Warnings are those that are new or happened again.
	Warnings []v1.Warning
	// Objects are the events that Kubernetes recorded.
	Objects []v1.ObjectEvent
	// Notices say that the connection is lost or restored.
	Notices []v1.Progress
}

func (c Change) empty() bool {
	return !c.Changed && len(c.Warnings)+len(c.Objects)+len(c.Notices) == 0
}

// Run hands out every change until deliver says that it is done; it is first
// called with what is known already, whether that is new or not. It returns the
// context's error when that ends, and a fault when the API server refuses to go
// on. After a Run that was done there can be another, which goes on where the first
// stopped.
func (f *Follower) Run(ctx context.Context, p cause.Policy, now func() time.Time,
	deliver func(Change) (done bool),
) error {
	ctx, stop := context.WithCancel(ctx) // what is asked about nodes ends with it
	defer stop()
	for first := true; ; first = false {
		news := f.take()
		clock := f.clusterTime(news, now)
		next, done := f.read(news, p.By(f.behind), clock, first, deliver)
		switch {
		case done:
			return nil
		case news.err != nil:
			return news.err
		}
		next = f.askForNodes(ctx, clock(), next)
		if err := news.wait(ctx, next, clock); err != nil {
			return err
		}
	}
}

// news is what there is to read.
type news struct {
	states  []watch.State
	notices []v1.Progress
	err     error
	changed <-chan struct{} // closed when there is more
}

// take gives the states that were not read yet, or the present one, which may read
// differently meanwhile.
func (f *Follower) take() news {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := news{
		states: f.pending, notices: slices.Concat(f.outage.notices, f.nodes.notices), err: f.err,
		changed: f.changed,
	}
	f.pending, f.outage.notices, f.nodes.notices = nil, nil, nil
	if len(n.states) == 0 {
		n.states = []watch.State{f.state}
	}
	return n
}

// read reads one state after the other and says when the last one wants to be
// read again. What is left when the caller is done is kept for another Run.
func (f *Follower) read(n news, p cause.Policy, now func() time.Time, first bool,
	deliver func(Change) bool,
) (next time.Time, done bool) {
	for i, s := range n.states {
		var snapshot v1.Snapshot
		snapshot, next = watch.Analyze(s, p, now())
		change := f.reported.update(s, snapshot)
		change.Notices, n.notices = n.notices, nil
		if (!change.empty() || first && i == 0) && deliver(change) {
			f.mu.Lock()
			f.pending = append(n.states[i+1:], f.pending...)
			f.mu.Unlock()
			return next, true
		}
	}
	return next, false
}

// wait waits for more, or for the time that the reading asked for.
func (n news) wait(ctx context.Context, next time.Time, now func() time.Time) error {
	var due <-chan time.Time
	if !next.IsZero() {
		timer := time.NewTimer(next.Sub(now()))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-n.changed:
	case <-due:
	}
	return nil
}

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
