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

	"github.com/berthdev/berth/internal/watch"
)

// Follower keeps the state of one subject up to date and reads it. What the
// API server says is kept change by change, so that a stage that lasts a moment
// is seen also by a reader who is busy.
type Follower struct {
	subject watch.Subject
	sources sync.WaitGroup
	stop    context.CancelFunc
	relist  chan struct{} // asks for a list of the pods; holds one

	mu      sync.Mutex
	changed chan struct{} // closed, and replaced, with the next change
	state   watch.State
	pending []watch.State // not read yet, each one change after the other
	outage  outage
	err     error
	sought  map[types.UID]bool // pods whose absence from a list means something

	// Run's alone:
	said   said          // what has been handed out
	behind time.Duration // how far this clock is behind the cluster's, at least
}

// Open begins to watch and returns once every watch is open, so that nothing is
// missed of what the caller does next. It costs one request a source. The
// watches end with ctx, or with Close.
func Open(ctx context.Context, subject watch.Subject, sources ...Source) (*Follower, error) {
	f := &Follower{
		subject: subject,
		relist:  make(chan struct{}, 1),
		changed: make(chan struct{}),
		state:   watch.NewState(subject),
		sought:  map[types.UID]bool{},
		said:    newSaid(subject),
	}
	ctx, f.stop = context.WithCancel(ctx)
	opened := make(chan error, len(sources))
	for _, source := range sources {
		feed := &feed{Source: source, to: f, version: source.Version}
		if source.Covers(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: subject.Name, Namespace: subject.Namespace}}) {
			feed.relist = f.relist
		}
		if source.Version != "" {
			f.replace(source.Listed, source.Version, source.Covers, nil)
		}
		f.sources.Go(func() { feed.run(ctx, opened) })
	}
	for range sources {
		if err := <-opened; err != nil {
			f.Close()
			return nil, err
		}
	}
	return f, nil
}

// Close ends the watches and waits until they have ended.
func (f *Follower) Close() {
	f.stop()
	f.sources.Wait()
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
	f.sought[uid] = true
	for i := range f.pending {
		f.pending[i] = f.pending[i].Expect(uid)
	}
	f.push(f.state.Expect(uid))
}

// push makes s the state; the lock is held.
func (f *Follower) push(s watch.State) {
	f.state = s
	f.pending = append(f.pending, s)
	f.signal()
}

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

// soughtNow are the pods that a list begun now must have, or they are gone.
func (f *Follower) soughtNow() []types.UID {
	f.mu.Lock()
	defer f.mu.Unlock()
	var uids []types.UID
	for uid := range f.sought {
		uids = append(uids, uid)
	}
	return uids
}

// replace passes on a list.
func (f *Follower) replace(listed []runtime.Object, version string, covers func(metav1.Object) bool, sought []types.UID) {
	f.change(func(s watch.State) watch.State {
		s = s.Replace(listed, version, covers)
		for _, uid := range sought {
			s = s.Absent(uid)
		}
		return s
	})
}

// fail ends the following: there is no point in trying again.
func (f *Follower) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
	f.signal()
}
