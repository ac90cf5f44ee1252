// Package event is the typed stream of what happens while a command works. Commands emit; the terminal and the job
// record consume, each at its own pace, so that neither slows the watching.
package event

import (
	"slices"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// Sink consumes events, one at a time and in order. The last one has a Result.
type Sink interface {
	Handle(v1.Event)
}

// Stream numbers and dates events and hands them to its sinks. Exactly one Result ends it; what is emitted afterwards
// is dropped. Safe for concurrent use.
type Stream struct {
	workspace string
	now       func() time.Time

	mu     sync.Mutex
	seq    uint64
	ended  bool
	queues []*queue
	wg     sync.WaitGroup
}

// NewStream starts a stream about one workspace, or about several if it names none: see Join.
func NewStream(workspace string, now func() time.Time, sinks ...Sink) *Stream {
	s := &Stream{workspace: workspace, now: now}
	for _, sink := range sinks {
		q := newQueue()
		s.queues = append(s.queues, q)
		s.wg.Go(func() { q.drain(sink) })
	}
	return s
}

// Step emits the state of a piece of berth's own work.
func (s *Stream) Step(step v1.Step) { s.emit(v1.Event{Step: &step}, false) }

// Stage emits a new reading of the workspace.
func (s *Stream) Stage(snapshot v1.Snapshot) { s.emit(v1.Event{Stage: &snapshot}, false) }

// Warning emits something that went wrong and may pass.
func (s *Stream) Warning(w v1.Warning) { s.emit(v1.Event{Warning: &w}, false) }

// Object emits a Kubernetes event about one of the workspace's objects.
func (s *Stream) Object(o v1.ObjectEvent) { s.emit(v1.Event{Object: &o}, false) }

// Script emits what has become of an init script so far.
func (s *Stream) Script(script v1.Script) { s.emit(v1.Event{Script: &script}, false) }

// Progress emits a remark that something is still going on.
func (s *Stream) Progress(p v1.Progress) { s.emit(v1.Event{Progress: &p}, false) }

// Seq is the number of the newest event so far.
func (s *Stream) Seq() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seq
}

// Finish emits the result, closes the stream and waits until every sink has handled what it was given. Only the first
// call counts.
func (s *Stream) Finish(r v1.Result) {
	s.emit(v1.Event{Result: &r}, true)
	s.wg.Wait()
}

func (s *Stream) emit(e v1.Event, last bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.seq++
	s.ended = last
	e.Seq, e.At = s.seq, s.now().UTC()
	if s.workspace != "" {
		e.Workspace = s.workspace
	}
	for _, q := range s.queues {
		q.put(e, last)
	}
}

// Join is a sink for the stream of one of several workspaces: it passes the events on to a stream about all of them,
// which renumbers them. A result becomes an outcome, since only the joint stream's own result ends it.
func (s *Stream) Join() Sink { return joined{s} }

type joined struct{ to *Stream }

// Handle passes one event on.
func (j joined) Handle(e v1.Event) {
	e.Outcome, e.Result = e.Result, nil
	j.to.emit(e, false)
}

// queue lets one sink be slower than the stream. What passes through is what a person reads in one command's time; of
// Kubernetes' events, which may be any number, a sink that is far behind gets the newest.
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
