package event

import (
	"slices"
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
)

// queue lets one sink be slower than the stream. What passes through is what a person
// reads in one command's time; of Kubernetes' events, which may be any number, a sink
// that is far behind gets the newest.
type queue struct {
	mu     sync.Mutex
	some   sync.Cond
	events []v1.Event
	closed bool
}

func newQueue() *queue {
	q := &queue{}
	q.some.L = &q.mu
	return q
}

func (q *queue) put(e v1.Event, last bool) {
	q.mu.Lock()
	if e.Object != nil && len(q.events) >= mostWaiting {
		q.drop()
	}
	q.events = append(q.events, e)
	q.closed = last
	q.mu.Unlock()
	q.some.Signal()
}

// mostWaiting is how many events wait before some are left out.
const mostWaiting = 2048

// drop leaves out the older half of Kubernetes' events; the lock is held.
func (q *queue) drop() {
	objects := 0
	for i := range q.events {
		if q.events[i].Object != nil {
			objects++
		}
	}
	left := (objects + 1) / 2
	q.events = slices.DeleteFunc(q.events, func(e v1.Event) bool {
		if e.Object == nil || left == 0 {
			return false
		}
		left--
		return true
	})
}

// drain hands events to the sink until the last one is handled.
func (q *queue) drain(sink Sink) {
	for {
		q.mu.Lock()
		for len(q.events) == 0 && !q.closed {
			q.some.Wait()
		}
		batch, closed := q.events, q.closed
		q.events = nil
		q.mu.Unlock()
		for _, e := range batch {
			sink.Handle(e)
		}
		if closed {
			return
		}
	}
}
