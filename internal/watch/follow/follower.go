// Package follow keeps what is known of a subject up to date from the API
// server's watches, and hands out readings as they change.
package follow

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/watch"
)

// Follower keeps the state of one subject up to date and reads it. What the
// API server says is kept change by change, so that a stage that lasts a moment
// is seen also by a reader who is busy.
type Follower struct {
	inputs []*input
	group  sync.WaitGroup
	stop   context.CancelFunc

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, with the next change
	state   watch.State
	pending []watch.State // not read yet, each one change after the other
	events  int           // the last of them that differ in an event alone
	outage  outage
	err     error
	awaited map[types.UID]bool // pods that are gone if a list does not have them
	nodes   nodeReading

	// Run's alone:
	reported reported      // what has been handed out
	behind   time.Duration // how far this clock is behind the cluster's, at least
}

// Open begins to watch and returns once every watch is open, so that nothing is
// missed of what the caller does next. It costs one request a source. The
// watches end with ctx, or with Close.
func Open(ctx context.Context, subject watch.Subject, sources ...Source) (*Follower, error) {
	f := &Follower{
		changed:  make(chan struct{}),
		state:    watch.NewState(subject),
		awaited:  map[types.UID]bool{},
		reported: nothingReported(subject),
	}
	ctx, f.stop = context.WithCancel(ctx)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: subject.Name, Namespace: subject.Namespace}}
	for _, source := range sources {
		in := &input{Follower: f, source: source, pods: source.Covers(pod), ready: make(chan error, 1)}
		f.inputs = append(f.inputs, in)
		f.group.Go(func() { in.run(ctx) })
	}
	for _, in := range f.inputs {
		if err := <-in.ready; err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// Close ends the watches and waits until they have ended.
func (f *Follower) Close() {
	f.stop()
	f.group.Wait()
}

// State is what is known now.
func (f *Follower) State() watch.State {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// Expect makes the pod with this UID the one that counts, also in what has been
// said and was not read yet. Pods of its name before it are ignored.
func (f *Follower) Expect(uid types.UID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.awaited[uid] = true
	for i := range f.pending {
		f.pending[i] = f.pending[i].Expect(uid)
	}
	f.push(f.state.Expect(uid))
}

// Begin makes this version of the subject, a workload that has just been
// written, the one that counts. What was said before it is of the revision
// before, and is not handed out.
func (f *Follower) Begin(workload runtime.Object) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending = nil
	f.push(f.state.Apply(apiwatch.Modified, workload))
}

// push makes s the state; the lock is held.
func (f *Follower) push(s watch.State) {
	f.state, f.events = s, 0
	f.pending = append(f.pending, s)
	f.signal()
}

// pushEvent makes s the state, which knows one event more. A reader who is late reads
// the newest of many that differ in events alone; the lock is held.
func (f *Follower) pushEvent(s watch.State) {
	f.events++
	if f.events <= mostPending || len(f.pending) == 0 {
		events := f.events
		f.push(s)
		f.events = events
		return
	}
	f.state, f.pending[len(f.pending)-1] = s, s
	f.signal()
}

// mostPending is how many states are kept for a reader that differ in events alone.
const mostPending = 32

// signal wakes everybody who waits; the lock is held.
func (f *Follower) signal() {
	close(f.changed)
	f.changed = make(chan struct{})
}

// change passes on what a watch said.
func (f *Follower) change(apply func(watch.State) watch.State) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.push(apply(f.state))
}

// replace passes on a list, and which pods it must have, or they are gone.
func (f *Follower) replace(listed []runtime.Object, version string, covers func(metav1.Object) bool,
	awaited []types.UID,
) {
	f.change(func(s watch.State) watch.State {
		s = s.Replace(listed, version, covers)
		for _, uid := range awaited {
			s = s.Absent(uid)
		}
		return s
	})
}

// Until waits for a state that is what the caller waits for. It looks at the
// newest state only.
func (f *Follower) Until(ctx context.Context, reached func(watch.State) bool) error {
	return f.until(ctx, reached, nil, nil)
}

// until also looks at the state each time that a clock ticks.
func (f *Follower) until(ctx context.Context, reached func(watch.State) bool, tick <-chan time.Time,
	look func(watch.State),
) error {
	for {
		f.mu.Lock()
		state, err, changed := f.state, f.err, f.changed
		f.pending = nil
		f.mu.Unlock()
		switch {
		case reached(state):
			return nil
		case err != nil:
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
			look(state)
		case <-changed:
		}
	}
}

// appearTime is how long an existing pod may take to appear in a watch that has
// just been opened.
const appearTime = time.Second

// WaitGone waits until the pod with this UID is gone: what has to be done before
// another of its name can be made.
func (f *Follower) WaitGone(ctx context.Context, uid types.UID) error {
	look := time.NewTicker(appearTime)
	defer look.Stop()
	gone := func(s watch.State) bool { return s.IsGone(uid) }
	return f.until(ctx, gone, look.C, func(s watch.State) {
		if !s.Has(uid) {
			f.look(ctx, uid)
		}
	})
}

// look lists the pods if this one has never been seen: it may have been removed
// before the watch was open, and a watch does not say so. If that fails, there is
// another time.
func (f *Follower) look(ctx context.Context, uid types.UID) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	for _, in := range f.inputs {
		if !in.pods {
			continue
		}
		if objects, version, err := in.source.list(ctx); err == nil {
			f.replace(objects, version, in.source.Covers, []types.UID{uid})
		}
	}
}

// clusterTime is this machine's clock, put forward if it is behind the
// cluster's: a delay counts from a time that the cluster gave, and a laptop that
// is a minute late would notice a minute late. Nothing is seen before it
// happens, so an object of the future shows it. (A clock that is ahead looks
// like an old object; it shortens the delays.)
func (f *Follower) clusterTime(n news, now func() time.Time) func() time.Time {
	for _, s := range n.states {
		f.behind = max(f.behind, s.Newest().Sub(now()))
	}
	behind := f.behind
	return func() time.Time { return now().Add(behind) }
}
