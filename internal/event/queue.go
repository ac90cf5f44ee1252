package event

import (
	"sync"

	v1 "github.com/berthdev/berth/api/v1"
)

// queue lets one sink be slower than the stream. It is unbounded: what passes
// through is what a person reads in one command's time.
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
	q.events = append(q.events, e)
	q.closed = last
	q.mu.Unlock()
	q.some.Signal()
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
