package event

import (
	"sync"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// slow is a sink that waits before the first event.
type slow struct {
	begin  chan struct{}
	once   sync.Once
	stages int
	newest string
	count  int
}

func (s *slow) Handle(e v1.Event) {
	s.once.Do(func() { <-s.begin })
	s.count++
	if e.Stage != nil {
		s.stages++
	}
	if e.Object != nil {
		s.newest = e.Object.Message
	}
}

// A sink that is far behind misses events of Kubernetes, but none of berth's own, nor the newest.
func TestSlowSink(t *testing.T) {
	sink := &slow{begin: make(chan struct{})}
	stream := NewStream("alice", time.Now, sink)
	for range 100 {
		stream.Stage(v1.Snapshot{})
		for range 1000 {
			stream.Object(v1.ObjectEvent{Message: "old"})
		}
	}
	stream.Object(v1.ObjectEvent{Message: "new"})
	close(sink.begin)
	stream.Finish(v1.Result{})
	// what it was given and what waited
	if sink.stages != 100 || sink.newest != "new" || sink.count > 2*mostWaiting+200 {
		t.Errorf("%d stages, the newest is %q, %d events in all", sink.stages, sink.newest, sink.count)
	}
}
