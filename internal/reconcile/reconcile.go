// Package reconcile is one loop for all controllers: it watches objects, works on the key of each that changes, and on
// all of them once a period.
package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"

	"github.com/berthdev/berth/internal/fault"
)

// Loop works on keys: the names of objects, or whatever says what to work on. There is never more than one worker on a
// key, and a key that changes meanwhile is worked on again.
type Loop[K comparable] struct {
	// Reconcile makes the cluster what an object says. After an error it is tried again, later each time; Again says
	// when.
	Reconcile func(ctx context.Context, key K) error
	// Sources are the objects that are watched.
	Sources []Source[K]
	// Feed adds keys that no source has, until ctx ends; it may be nil.
	Feed    func(ctx context.Context, add func(K))
	Workers int // at most this many keys are worked on at once
	// SlowWorkers are more of them, for what Reconcile has given up with Slowly.
	SlowWorkers int
	Period      time.Duration // of the passes over all objects; 0 for none
	Timeout     time.Duration // of one Reconcile; 0 for none
	Backoff     Backoff
	Log         *slog.Logger
	// Done is told how each Reconcile ended; it may be nil.
	Done func(key K, took time.Duration, err error)
}

// Backoff is how long after an error a key is tried again: First, then twice as long each time, Most at most. A part of
// that is left to chance.
type Backoff struct{ First, Most time.Duration }

// DefaultBackoff is patient with what has to be fixed by somebody.
func DefaultBackoff() Backoff { return Backoff{First: time.Second, Most: 5 * time.Minute} }

// jitter is how much longer than wanted a wait may be, so that what failed or began together is not tried together for
// ever.
const jitter = 0.2

func jittered(d time.Duration) time.Duration {
	return d + time.Duration(rand.Float64()*jitter*float64(d)) //nolint:gosec // not a secret
}

// againError asks for another try.
type againError struct{ after time.Duration }

func (e againError) Error() string { return "again in " + e.after.String() }

// Again is what Reconcile returns if all went well and there is more to do after some time, such as looking whether
// something has become ready.
func Again(after time.Duration) error { return againError{after} }

// afterError asks for another try.
type afterError struct{ done <-chan struct{} }

func (e afterError) Error() string { return "again when something has ended that goes on by itself" }

// After is what Reconcile returns if something has to end first that goes on without a worker, which is what closes
// done.
func After(done <-chan struct{}) error { return afterError{done} }

// IsAfter says whether an error is one of After.
func IsAfter(err error) bool {
	_, is := errors.AsType[afterError](err)
	return is
}

// limiter is client-go's exponential back-off with jitter.
type limiter[K comparable] struct{ workqueue.TypedRateLimiter[K] }

// When is how long to wait.
func (l limiter[K]) When(key K) time.Duration { return jittered(l.TypedRateLimiter.When(key)) }

// Run works until ctx ends and what is under way has ended with it. Every source is listed before the first key is
// worked on; ready is called then, and may be nil.
func (l *Loop[K]) Run(ctx context.Context, ready func()) {
	queue := newLanes[K](l.Backoff)
	watchers := make([]*watcher[K], len(l.Sources))
	var running sync.WaitGroup
	for i, source := range l.Sources {
		watchers[i] = source.watch(queue.add)
		running.Go(func() { watchers[i].run(ctx) })
	}
	defer running.Wait()
	defer queue.shutDown()
	for _, w := range watchers {
		if !w.wait(ctx) {
			return
		}
	}
	if ready != nil {
		ready()
	}
	for range max(l.Workers, 1) {
		running.Go(func() { l.work(ctx, queue, false) })
	}
	for range l.SlowWorkers {
		running.Go(func() { l.work(ctx, queue, true) })
	}
	if l.Feed != nil {
		running.Go(func() { l.Feed(ctx, queue.add) })
	}
	if l.Period > 0 {
		running.Go(func() { l.passes(ctx, watchers, queue.add) })
	}
	<-ctx.Done()
}

// passes puts all keys into the queue once a period.
func (l *Loop[K]) passes(ctx context.Context, watchers []*watcher[K], add func(K)) {
	for {
		wait := time.NewTimer(jittered(l.Period))
		select {
		case <-ctx.Done():
			wait.Stop()
			return
		case <-wait.C:
			for _, w := range watchers {
				w.all(add)
			}
		}
	}
}

func line(err error) string { return fault.Line(err.Error()) }

// try works on a key within the time for it. A defect that one object brings to light must not end the work on all
// others.
func (l *Loop[K]) try(ctx context.Context, key K) (err error) {
	if l.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, l.Timeout,
			fault.New(fault.DeadlineExceeded, "reconciling took longer than %s", l.Timeout))
		defer cancel()
	}
	return Guard(l.Log, key, func() error { return l.Reconcile(ctx, key) })
}

// Guard does something about a key, and makes an error of a panic.
func Guard(log *slog.Logger, key any, do func() error) (err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fault.New(fault.Internal, "reconciling panicked: %s", fmt.Sprint(reason))
			log.Error("reconciling panicked", slog.Any("key", key), slog.String("stack", string(debug.Stack())))
		}
	}()
	return do()
}
