package token

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
)

// ErrFull is that of a request that had to make room for others.
var ErrFull = errors.New("too many wait")

// Queue lets few at once do something, in turns of the flows that they belong to: however many of one flow wait, the
// next of another has its turn after one of them. Within a flow the turns are drawn, so that nobody can be before
// everybody else all the time.
type Queue struct {
	// AtOnce is how many have their turn, Room is how many wait for one.
	AtOnce, Room int

	mu      sync.Mutex
	busy    int
	waiting int
	flows   map[string][]*place
	order   []string // of the flows that wait, the next one first
}

// place is that of one who waits.
type place struct{ turn chan error }

// Enter waits for a turn, which ends with leave. The error is ErrFull if too many wait: then one of the flow that has
// most of them goes. Otherwise it is the cause of the end of ctx.
func (q *Queue) Enter(ctx context.Context, flow string) (leave func(), err error) {
	mine := q.line(flow)
	if mine == nil {
		return q.leave, nil
	}
	select {
	case err = <-mine.turn:
	case <-ctx.Done():
		if !q.quit(flow, mine) {
			if err = <-mine.turn; err == nil { // it came at the same time
				q.leave()
			}
		}
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return q.leave, nil
}

// Len is how many have their turn or wait for it.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.busy + q.waiting
}

// line takes a place in the queue, nil if there is a turn at once.
func (q *Queue) line(flow string) *place {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.busy < q.AtOnce {
		q.busy++
		return nil
	}
	if q.flows == nil {
		q.flows = map[string][]*place{}
	}
	if len(q.flows[flow]) == 0 {
		q.order = append(q.order, flow)
	}
	mine := &place{turn: make(chan error, 1)}
	q.flows[flow] = append(q.flows[flow], mine)
	q.waiting++
	if q.waiting > q.Room {
		q.draw(q.longest()).turn <- ErrFull
	}
	return mine
}

// longest is a flow of which most wait.
func (q *Queue) longest() (flow string) {
	for name, all := range q.flows {
		if len(all) > len(q.flows[flow]) {
			flow = name
		}
	}
	return flow
}

// leave ends a turn: the next one has it.
func (q *Queue) leave() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.order) == 0 {
		q.busy--
		return
	}
	flow := q.order[0]
	next := q.draw(flow)
	if len(q.flows[flow]) > 0 { // after all the others
		q.order = append(q.order[1:], flow)
	}
	next.turn <- nil
}

// draw takes any of a flow out of the queue.
func (q *Queue) draw(flow string) *place {
	i := rand.IntN(len(q.flows[flow])) //nolint:gosec // a turn, not a secret
	drawn := q.flows[flow][i]
	q.remove(flow, i)
	return drawn
}

// quit takes one out of the queue; false if they were drawn already.
func (q *Queue) quit(flow string, mine *place) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, p := range q.flows[flow] {
		if p == mine {
			q.remove(flow, i)
			return true
		}
	}
	return false
}

// remove takes one out of the queue by its number in its flow.
func (q *Queue) remove(flow string, i int) {
	all := q.flows[flow]
	last := len(all) - 1
	all[i], all[last] = all[last], nil
	q.waiting--
	if q.flows[flow] = all[:last]; last > 0 {
		return
	}
	delete(q.flows, flow)
	for i, name := range q.order {
		if name == flow {
			q.order = append(q.order[:i:i], q.order[i+1:]...)
			return
		}
	}
}
