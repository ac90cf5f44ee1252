package event

import (
	"slices"
	"sync"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// kept keeps what it is given; slow ones wait to be let on.
type kept struct {
	gate   chan struct{}
	events []v1.Event
}

func (k *kept) Handle(e v1.Event) {
	if k.gate != nil {
		<-k.gate
	}
	k.events = append(k.events, e)
}

// Every sink gets every event, numbered without gaps, and exactly one result, last; a slow sink does not hold up who
// emits.
func TestStream(t *testing.T) {
	quick, slow := &kept{}, &kept{gate: make(chan struct{})}
	s := NewStream("alice-1", time.Now, quick, slow)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() { s.Progress(v1.Progress{Message: "x"}) })
	}
	wg.Wait() // although slow has taken nothing yet
	close(slow.gate)
	s.Finish(v1.Result{Workspace: &v1.Workspace{ID: "alice-1"}})
	s.Finish(v1.Result{Error: &v1.Error{}})
	s.Progress(v1.Progress{Message: "too late"})
	for name, sink := range map[string]*kept{"quick": quick, "slow": slow} {
		if len(sink.events) != 51 {
			t.Fatalf("%s got %d events", name, len(sink.events))
		}
		for i, e := range sink.events {
			if e.Seq != uint64(i+1) || e.Workspace != "alice-1" {
				t.Errorf("%s: event %d is %+v", name, i, e)
			}
		}
		results := slices.DeleteFunc(sink.events, func(e v1.Event) bool { return e.Result == nil })
		if len(results) != 1 || results[0].Result.Workspace == nil {
			t.Errorf("%s: the results are %+v", name, results)
		}
	}
}

// Several streams make one: numbered without gaps, each event with its workspace, the results of the parts as outcomes,
// and one result, last.
func TestJoin(t *testing.T) {
	all := &kept{}
	joint := NewStream("", time.Now, all)
	var wg sync.WaitGroup
	for _, id := range []string{"alice-1", "bob-2", "carol-3"} {
		part := NewStream(id, time.Now, joint.Join())
		wg.Go(func() {
			for range 20 {
				part.Progress(v1.Progress{Message: id})
			}
			part.Finish(v1.Result{Workspace: &v1.Workspace{ID: id}})
		})
	}
	wg.Wait()
	joint.Finish(v1.Result{Summary: &v1.ProvisionSummary{}})
	outcomes := map[string]int{}
	for i, e := range all.events {
		last := i == len(all.events)-1
		switch {
		case e.Seq != uint64(i+1), last != (e.Result != nil), last != (e.Workspace == ""):
			t.Errorf("event %d is %+v", i, e)
		case e.Progress != nil && (e.Progress.Message != e.Workspace || outcomes[e.Workspace] > 0):
			t.Errorf("event %d is %+v", i, e)
		case e.Outcome != nil && e.Outcome.Workspace.ID != e.Workspace:
			t.Errorf("event %d is %+v", i, e)
		case e.Outcome != nil:
			outcomes[e.Workspace]++
		}
	}
	if len(all.events) != 64 || len(outcomes) != 3 {
		t.Errorf("%d events, outcomes %v", len(all.events), outcomes)
	}
}
