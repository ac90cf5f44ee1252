package job

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
)

// memory is a store that can be broken.
type memory struct {
	mu      sync.Mutex
	err     error // what a write fails with
	hang    bool  // it does not answer
	takes   time.Duration
	records map[string]Record
	writes  []Record
	tries   int
}

func (m *memory) Put(ctx context.Context, r Record) error {
	m.mu.Lock()
	m.tries++
	err, hang, takes := m.err, m.hang, m.takes
	m.mu.Unlock()
	time.Sleep(takes)
	if hang {
		<-ctx.Done()
		return fault.New(fault.Unavailable, "no answer: %w", ctx.Err())
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[string]Record{}
	}
	m.records[r.ID] = r
	m.writes = append(m.writes, r)
	return nil
}

func (m *memory) Get(_ context.Context, id string) (Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.records[id]; ok {
		return r, nil
	}
	return Record{}, notFound(id)
}

func (m *memory) List(context.Context) ([]Record, error) { return nil, nil }

func (m *memory) Watch(context.Context, string, func(Record) bool) error { return nil }

func (m *memory) broken(err error, hang bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err, m.hang = err, hang
}

func stagesOf(r Record) (stages []v1.Stage) {
	for _, e := range r.Events {
		if e.Type == TypeStatus {
			stages = append(stages, stageOf(e))
		}
	}
	return stages
}

func reach(s *event.Stream, stages ...v1.Stage) {
	for _, st := range stages {
		s.Stage(v1.Snapshot{Stage: st, Status: st.Status()})
		synctest.Wait()
	}
}

var threeStages = []v1.Stage{v1.StageScheduling, v1.StageStarting, v1.StageRunning}

var errAway = fault.New(fault.Unavailable, "away")

// An outage in the middle slows nothing and leaves nothing out.
func TestRecorderOverAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		r := NewRecorder(&Stores{primary: store, cluster: ConfigMaps{}}, time.Now)
		r.stores.cluster = clusterFor(t, time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		s.Step(v1.Step{Name: "install", State: v1.StepEnded})
		r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1", Username: "alice"})
		reach(s, v1.StageScheduling)
		store.broken(errAway, false)
		reach(s, v1.StageStarting)
		time.Sleep(time.Minute)
		before := time.Now()
		reach(s, v1.StageRunning)
		if took := time.Since(before); took > 0 {
			t.Errorf("the stream was held up for %s", took)
		}
		store.broken(nil, false)
		time.Sleep(2 * time.Second)
		r.End(s.Seq(), nil)
		s.Finish(v1.Result{Workspace: &v1.Workspace{}})
		got := store.records["a"]
		if !slices.Equal(stagesOf(got), threeStages) || got.Status != Completed || got.FinishedAt == nil || r.Problem() != nil {
			t.Errorf("%+v, %v", got, r.Problem())
		}
		if got.Events[0].ObjectName != "install" || got.code() != "" {
			t.Errorf("%q", lines(got))
		}
		for i := 1; i < len(store.writes); i++ {
			if len(store.writes[i].Events) < len(store.writes[i-1].Events) {
				t.Error("an older state was written after a newer one")
			}
		}
	})
}

// A write in flight at the end is followed by the last one at once.
func TestLastWriteFollowsTheOneInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{takes: 40 * time.Millisecond}
		r := NewRecorder(&Stores{primary: store, cluster: clusterFor(t, time.Now)}, time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		r.Begin(t.Context(), Start{ID: "a"})
		time.Sleep(time.Second)
		reach(s, v1.StageStarting)
		time.Sleep(10 * time.Millisecond)
		before := time.Now()
		r.End(s.Seq(), nil)
		s.Finish(v1.Result{Workspace: &v1.Workspace{}})
		if took := time.Since(before); took != 70*time.Millisecond || store.records["a"].Status != Completed {
			t.Errorf("it took %s, the record is %+v", took, store.records["a"])
		}
	})
}

// At the end it takes two seconds at most, whether the store refuses or is
// silent; then the record goes into the cluster, marked.
func TestRecorderEndsInTime(t *testing.T) {
	for name, silent := range map[string]bool{"refuses": false, "silent": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &memory{err: errAway, hang: silent}
				cluster := clusterFor(t, time.Now)
				r := NewRecorder(withSpare(store, nil, cluster), time.Now)
				s := event.NewStream("alice-1", time.Now, r)
				r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
				reach(s, threeStages...)
				time.Sleep(10*time.Second + 100*time.Millisecond)
				before := time.Now()
				s.Finish(v1.Result{Error: &v1.Error{Code: "FAILED", Message: "no such image"}})
				if took := time.Since(before); took > lastTime {
					t.Errorf("it took %s", took)
				}
				pending, err := cluster.Pending(t.Context())
				if err != nil || len(pending) != 1 || !slices.Equal(stagesOf(pending[0]), threeStages) || pending[0].code() != fault.Failed {
					t.Fatalf("%+v, %v", pending, err)
				}
				if !errors.Is(r.Problem(), errAway) && !silent {
					t.Errorf("%v", r.Problem())
				}
				store.broken(nil, false)
				moved, err := withSpare(store, nil, cluster).Move(t.Context())
				if left, _ := cluster.Pending(t.Context()); moved != 1 || err != nil || len(left) != 0 || store.records["a"].ID != "a" {
					t.Errorf("%d moved, %v; left are %v", moved, err, left)
				}
			})
		})
	}
}

// What is refused is not asked for again, and never fails anything.
func TestRecorderForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{err: fault.New(fault.PermissionDenied, "you may not")}
		r := NewRecorder(&Stores{primary: store, cluster: clusterFor(t, time.Now)}, time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		r.Begin(t.Context(), Start{ID: "a"})
		reach(s, threeStages...)
		time.Sleep(time.Minute)
		before := time.Now()
		s.Finish(v1.Result{})
		if time.Since(before) > 0 || store.tries != 1 || fault.CodeOf(r.Problem()) != fault.PermissionDenied {
			t.Errorf("%s, %d tries, %v", time.Since(before), store.tries, r.Problem())
		}
	})
}

// A run that did nothing leaves no record; and none is kept by a nil Recorder.
func TestRecorderWithoutAJob(t *testing.T) {
	store := &memory{}
	r := NewRecorder(&Stores{primary: store}, time.Now)
	s := event.NewStream("alice-1", time.Now, r)
	s.Progress(v1.Progress{Message: "somebody is at it already"})
	s.Finish(v1.Result{})
	if store.tries != 0 {
		t.Error("there is a record")
	}
	var none *Recorder
	none.Begin(t.Context(), Start{})
	none.End(1, nil)
	if none.Problem() != nil || NewRecorder(nil, time.Now) != nil {
		t.Error("nil is no recorder that does nothing")
	}
}

// A job that was cut off goes on in the same record.
func TestRecorderResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{records: map[string]Record{"a": {ID: "a", Status: Running, CreatedAt: at(0), Events: []Entry{{ID: "1", Type: TypeStatus, Message: "Scheduling", Status: "Provisioning"}}}}}
		r := NewRecorder(&Stores{primary: store, cluster: clusterFor(t, time.Now)}, time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		r.Begin(t.Context(), Start{ID: "a", Resumed: true})
		reach(s, threeStages...)
		s.Finish(v1.Result{})
		if got := store.records["a"]; !slices.Equal(stagesOf(got), threeStages) || !got.CreatedAt.Equal(at(0)) || got.Status != Completed {
			t.Errorf("%+v", got)
		}
	})
}

// While nothing happens there are signs of life.
func TestRecorderHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		r := NewRecorder(&Stores{primary: store, cluster: clusterFor(t, time.Now)}, time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		r.Begin(t.Context(), Start{ID: "a"})
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if got := store.records["a"].State(time.Now()); got != v1.JobRunning {
			t.Errorf("%s", got)
		}
		s.Finish(v1.Result{})
	})
}
