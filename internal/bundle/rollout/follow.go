package rollout

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Follower keeps up to date what is around workloads, from when they are first looked
// behind. It is a health.Inspector.
type Follower struct {
	Looker
	// note is told once of what may not be read.
	note func(string)

	group sync.WaitGroup

	mu      sync.Mutex
	inputs  map[scope]*input
	changed chan struct{} // closed, and replaced, with the next change
	noted   bool
	behind  time.Duration // how far this clock is behind the cluster's, at least
}

// Follow makes a Follower, which asks for nothing until it is told what to look behind.
func (l Looker) Follow(note func(string)) *Follower {
	return &Follower{Looker: l, note: note, inputs: map[scope]*input{}, changed: make(chan struct{})}
}

// Close ends the watches and waits until they have ended.
func (f *Follower) Close() {
	f.mu.Lock()
	for _, in := range f.inputs {
		in.stop()
	}
	f.mu.Unlock()
	f.group.Wait()
}

// Open begins to watch what is around those of the objects that are not Current, and does not
// wait for it.
func (f *Follower) Open(ctx context.Context, readings []health.Reading) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range scopes(readings) {
		if f.inputs[at] != nil {
			continue
		}
		in := &input{Follower: f, isOpen: true, objects: map[types.UID]runtime.Object{}}
		watching, stop := context.WithCancel(ctx)
		in.stop, f.inputs[at] = stop, in
		from := source(f.Client, at, workloadsOf(readings))
		f.group.Go(func() {
			defer stop()
			in.ended(watching, follow.Reflect(watching, from, in))
		})
	}
}

// Changed is closed with the next change.
func (f *Follower) Changed() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// Inspect makes a reading say what is behind it, once that is known.
func (f *Follower) Inspect(r health.Reading) (health.Reading, time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	objects, known := f.around(r.Object.GetNamespace())
	if !known || !IsWorkload(r.Object) {
		return r, time.Time{}
	}
	// A delay counts from a time that the cluster gave, so that it is read by the cluster's clock,
	// as is since when it is waited. (A clock that is ahead shortens delays, and no waiting.)
	s, _ := stateOf(r.Object, objects)
	f.behind = max(f.behind, s.Newest().Sub(f.Now()))
	r, next := Analyze(r, objects, f.Policy.By(f.behind), f.Now().Add(f.behind))
	if !next.IsZero() {
		next = next.Add(-f.behind)
	}
	return r, next
}

// around is what is known of a namespace; not known as long as a list is still to come, or
// where pods may not be read.
func (f *Follower) around(namespace string) (objects []runtime.Object, known bool) {
	for at, in := range f.inputs {
		switch {
		case at.namespace != namespace:
		case in.isOpen && !in.isListed:
			return nil, false
		default:
			known = known || at.resource == pods && in.isOpen
			for _, o := range in.objects {
				objects = append(objects, o)
			}
		}
	}
	return objects, known
}

// signal wakes what waits for a change; the lock is held.
func (f *Follower) signal() {
	close(f.changed)
	f.changed = make(chan struct{})
}
