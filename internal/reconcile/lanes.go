package reconcile

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
)

// A loop with slow workers has two lanes. Every key is worked on by the others at first, which give up early what takes
// long; then it is the turn of the slow workers, one key after the other. However many keys are slow, what changes is
// looked at within the time in which the first lane gives up.

// slowlyError asks for the work of a slow worker.
type slowlyError struct{ err error }

func (e slowlyError) Error() string { return "takes long: " + e.err.Error() }

func (e slowlyError) Unwrap() error { return e.err }

// Slowly is what Reconcile returns if it has given up because of err, and a slow worker, which has more time, is to go
// on. It is for a loop that has some; see IsSlow.
func Slowly(err error) error { return slowlyError{err} }

// IsSlowly says whether an error is one of Slowly.
func IsSlowly(err error) bool {
	_, is := errors.AsType[slowlyError](err)
	return is
}

// slowKey marks the context of a slow worker.
type slowKey struct{}

// WithSlow is a context of a slow worker.
func WithSlow(ctx context.Context) context.Context { return context.WithValue(ctx, slowKey{}, true) }

// IsSlow says whether it is a slow worker that works with a context.
func IsSlow(ctx context.Context) bool { return ctx.Value(slowKey{}) != nil }

// verdict is what comes after the work on a key.
type verdict int

const (
	forget verdict = iota // all is well
	wait                  // again after some time
	park                  // again when something else has ended; failures before that still count
	retry                 // again in the same lane, later each time
	move                  // to the slow lane, at once
)

// judge decides by the error of a Reconcile, and by the lane in which it was.
func judge(err error, slow bool) verdict {
	_, again := errors.AsType[againError](err)
	switch {
	case err == nil:
		return forget
	case again:
		return wait
	case IsAfter(err):
		return park
	case IsSlowly(err) && !slow:
		return move
	}
	return retry
}

// Failed says whether what Reconcile has returned is an error, and does not only ask for another turn.
func Failed(err error) bool { return judge(err, false) == retry }

// slowBackoff is how many times as long as others a key of the slow lane waits after an error.
const slowBackoff = 16

// lanes are the queues of a loop. There is never more than one worker on a key, whatever lane it comes from.
type lanes[K comparable] struct {
	fast, slow workqueue.TypedRateLimitingInterface[K]

	mu    sync.Mutex
	busy  map[K]bool // those that are worked on
	again map[K]bool // of these, those that the other lane was to work on meanwhile
}

func newLanes[K comparable](b Backoff) *lanes[K] {
	queue := func(first time.Duration) workqueue.TypedRateLimitingInterface[K] {
		return workqueue.NewTypedRateLimitingQueue[K](limiter[K]{
			workqueue.NewTypedItemExponentialFailureRateLimiter[K](first, b.Most),
		})
	}
	return &lanes[K]{
		fast: queue(b.First), slow: queue(min(slowBackoff*b.First, b.Most)),
		busy: map[K]bool{}, again: map[K]bool{},
	}
}

// add is what changes: whatever became of it the last time, it begins in the first lane.
func (q *lanes[K]) add(key K) { q.fast.Add(key) }

func (q *lanes[K]) shutDown() {
	q.fast.ShutDown()
	q.slow.ShutDown()
}

// begin says whether nobody works on a key.
func (q *lanes[K]) begin(key K) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy[key] {
		q.again[key] = true
		return false
	}
	q.busy[key] = true
	return true
}

func (q *lanes[K]) end(key K) {
	q.mu.Lock()
	again := q.again[key]
	delete(q.busy, key)
	delete(q.again, key)
	q.mu.Unlock()
	if again {
		q.add(key)
	}
}

// work is one worker of a lane.
func (l *Loop[K]) work(ctx context.Context, q *lanes[K], slow bool) {
	lane, working := q.fast, ctx
	if slow {
		lane, working = q.slow, WithSlow(ctx)
	}
	for {
		key, closed := lane.Get()
		if closed {
			return
		}
		if ctx.Err() == nil && q.begin(key) {
			l.one(working, q, key)
			q.end(key)
		}
		lane.Done(key)
	}
}

// one works on a key, and decides when to do that again.
func (l *Loop[K]) one(ctx context.Context, q *lanes[K], key K) {
	begun := time.Now()
	err := l.try(ctx, key)
	if ctx.Err() != nil {
		return // the next run finds what is left to do
	}
	lane := q.fast
	if IsSlow(ctx) {
		lane = q.slow
	}
	next := judge(err, IsSlow(ctx))
	if l.Done != nil {
		failed := err
		if next != retry {
			failed = nil
		}
		l.Done(key, time.Since(begun), failed)
	}
	if next != retry && next != park {
		lane.Forget(key)
	}
	switch next {
	case forget:
	case wait:
		again, _ := errors.AsType[againError](err)
		q.fast.AddAfter(key, again.after)
	case park:
		after, _ := errors.AsType[afterError](err)
		go func() {
			select {
			case <-after.done:
				q.add(key)
			case <-ctx.Done():
			}
		}()
	case move:
		l.Log.Info("reconciling takes long: left to the slow workers", slog.Any("key", key),
			slog.String("reason", line(err)))
		q.slow.Add(key)
	case retry:
		l.Log.Warn("reconciling failed", slog.Any("key", key), slog.Int("failures", lane.NumRequeues(key)+1),
			slog.String("error", line(err)))
		lane.AddRateLimited(key)
	}
}
