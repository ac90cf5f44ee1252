package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/store"
)

// memory is a store that can be broken.
type memory struct {
	store.Store // what is not implemented

	mu        sync.Mutex
	err       error // what a write fails with
	hang      bool  // it does not answer
	delay     time.Duration
	contested string // what others are changing
	records   map[string]Record
	writes    []Record
	tries     int
}

func (m *memory) Put(ctx context.Context, d store.Document) (string, error) {
	m.mu.Lock()
	m.tries++
	err, hang := m.err, m.hang
	m.mu.Unlock()
	time.Sleep(m.delay)
	if hang {
		<-ctx.Done()
		return "", fault.New(fault.Unavailable, "no answer: %w", ctx.Err())
	}
	if err != nil {
		return "", err
	}
	return m.Update(ctx, d)
}

func (m *memory) Update(_ context.Context, d store.Document) (string, error) {
	if d.Key == m.contested {
		return "", fault.New(fault.Conflict, "changed by another writer")
	}
	r, err := Decode(d.Key, d.Value)
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.records == nil {
		m.records = map[string]Record{}
	}
	m.records[r.ID] = r
	m.writes = append(m.writes, r)
	return "", err
}

func (m *memory) Get(_ context.Context, id string) (store.Document, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r, ok := m.records[id]; ok {
		text, err := r.Encode()
		return store.Document{Key: id, Value: text}, err
	}
	return store.Document{}, fault.New(fault.NotFound, "no document %s", id)
}

func (m *memory) List(context.Context) (documents []store.Document, err error) {
	for _, r := range m.records {
		text, encodeErr := r.Encode()
		documents, err = append(documents, store.Document{Key: r.ID, Value: text}), cmp.Or(err, encodeErr)
	}
	return documents, cmp.Or(m.err, err)
}

// begun is how many writes have begun.
func (m *memory) begun() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tries
}

func (m *memory) broken(err error, hang bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.err, m.hang = err, hang
}

// withFallback keeps records in a store, and in the cluster what cannot be written
// there; or all in the cluster.
func withFallback(nats store.Store) *Stores {
	return &Stores{nats: nats, cluster: configMaps(fake.NewClientset(), "team", Retention, time.Now)}
}

// forbid forbids a verb in the cluster, and counts how often it is tried.
func forbid(s *Stores, verb string) *int {
	tries := new(int)
	s.cluster.Client.(*fake.Clientset).
		PrependReactor(verb, "configmaps", func(clienttesting.Action) (bool, runtime.Object, error) {
			*tries++
			return true, nil, apierrors.NewForbidden(corev1.Resource("configmaps"), "x",
				errors.New(`User "alice" cannot do that`))
		})
	return tries
}

func stagesOf(r Record) (stages []v1.Stage) {
	for _, e := range r.Events {
		if e.Type == v1.JobEventStatus {
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
		r := NewRecorder(withFallback(store), time.Now)
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
		if !slices.Equal(stagesOf(got), threeStages) || got.Status != v1.JobStatusCompleted || got.FinishedAt == nil ||
			r.Problem() != nil {
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

// At the end it takes two seconds at most, whether the store is away or silent, and
// no time if it refuses the login; then the record goes into the cluster, marked.
func TestRecorderEndsInTime(t *testing.T) {
	refused := fault.New(fault.Unauthenticated, "wrong password")
	for name, c := range map[string]struct {
		err  error
		hang bool
		most time.Duration
	}{
		"away": {errAway, false, endTime}, "silent": {nil, true, endTime}, "refused": {refused, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &memory{err: c.err, hang: c.hang}
				stores := withFallback(store)
				r := NewRecorder(stores, time.Now)
				s := event.NewStream("alice-1", time.Now, r)
				r.Begin(t.Context(), Start{ID: "a", WorkspaceName: "alice-1"})
				reach(s, threeStages...)
				time.Sleep(10*time.Second + 100*time.Millisecond)
				before := time.Now()
				s.Finish(v1.Result{Error: &v1.Error{Code: "FAILED", Message: "no such image"}})
				if took := time.Since(before); took > c.most {
					t.Errorf("it took %s, want %s at most", took, c.most)
				}
				pending, err := list(t.Context(), stores.pending())
				if err != nil || len(pending) != 1 || !slices.Equal(stagesOf(pending[0]), threeStages) ||
					pending[0].code() != fault.Failed {
					t.Fatalf("%+v, %v", pending, err)
				}
				if !errors.Is(r.Problem(), c.err) && !c.hang {
					t.Errorf("%v", r.Problem())
				}
				store.broken(nil, false)
				moved, err := stores.Move(t.Context())
				if left, _ := stores.pending().List(t.Context()); moved != 1 || err != nil || len(left) != 0 ||
					store.records["a"].ID != "a" {
					t.Errorf("%d moved, %v; left are %v", moved, err, left)
				}
			})
		})
	}
}

// After the end there is one write, as soon as the one in flight is done if there is
// one; and nothing is waited for that is only tidied up.
func TestRecorderEndsWithOneWrite(t *testing.T) {
	const roundTrip = 40 * time.Millisecond
	for name, c := range map[string]struct{ since, takes time.Duration }{
		"right after the last stage": {0, roundTrip},
		"while that is written":      {pause + 10*time.Millisecond, 30*time.Millisecond + roundTrip},
		"long after it":              {time.Minute, roundTrip},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &memory{delay: roundTrip}
				stores := withFallback(store)
				stores.cluster.Client.(*fake.Clientset).
					PrependReactor("*", "*", func(clienttesting.Action) (bool, runtime.Object, error) {
						time.Sleep(time.Hour)
						return true, nil, errAway
					})
				r := NewRecorder(stores, time.Now)
				s := event.NewStream("alice-1", time.Now, r)
				r.Begin(t.Context(), Start{ID: "a"})
				time.Sleep(time.Second)
				reach(s, v1.StageRunning)
				time.Sleep(c.since)
				before, tries := time.Now(), store.begun()
				r.End(s.Seq(), nil)
				s.Finish(v1.Result{})
				took, done := time.Since(before), store.records["a"].Status
				if took != c.takes || store.begun() != tries+1 || done != v1.JobStatusCompleted || r.Problem() != nil {
					t.Errorf("it took %s, want %s; %d writes, %s, %v", took, c.takes, store.begun()-tries, done,
						r.Problem())
				}
				time.Sleep(2 * time.Hour) // let the client go
			})
		})
	}
}

// The end waits for the events before it, however late they are handled.
func TestRecorderEndsAfterTheLastEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		r := NewRecorder(withFallback(store), time.Now)
		r.Begin(t.Context(), Start{ID: "a"})
		r.End(3, nil)
		synctest.Wait()
		for i, st := range threeStages {
			r.Handle(v1.Event{Seq: uint64(i + 1), Stage: &v1.Snapshot{Stage: st, Status: st.Status()}})
		}
		r.Handle(v1.Event{Seq: 4, Result: &v1.Result{Error: &v1.Error{Code: "INTERNAL"}}})
		got := store.records["a"]
		if !slices.Equal(stagesOf(got), threeStages) || got.code() != "" || !isResult(got.Events[len(got.Events)-1]) {
			t.Errorf("%q", lines(got))
		}
	})
}

// What is refused is not asked for again, and never fails anything.
func TestRecorderForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := withFallback(nil)
		tries := forbid(stores, "patch")
		r := NewRecorder(stores, time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		r.Begin(t.Context(), Start{ID: "a"})
		reach(s, threeStages...)
		time.Sleep(time.Minute)
		before := time.Now()
		s.Finish(v1.Result{})
		if time.Since(before) > 0 || *tries != 1 || fault.CodeOf(r.Problem()) != fault.PermissionDenied {
			t.Errorf("%s, %d tries, %v", time.Since(before), *tries, r.Problem())
		}
	})
}

// A run that did nothing leaves no record; and a nil Recorder keeps no record.
func TestRecorderWithoutAJob(t *testing.T) {
	store := &memory{}
	r := NewRecorder(withFallback(store), time.Now)
	s := event.NewStream("alice-1", time.Now, r)
	s.Progress(v1.Progress{Message: "another command is provisioning it"})
	s.Finish(v1.Result{})
	if store.tries != 0 {
		t.Error("there is a record")
	}
	var none *Recorder
	none.Begin(t.Context(), Start{})
	none.End(1, nil)
	if none.Problem() != nil || NewRecorder(nil, time.Now) != nil {
		t.Error("a nil recorder does something")
	}
}

// What is written says what the workspace was made from, and what it has failed of.
func TestRecorderKeepsWhatIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		r := NewRecorder(withFallback(store), time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		r.Begin(t.Context(), Start{ID: "a", Blueprint: "dev"})
		s.Stage(v1.Snapshot{
			Stage: v1.StageFailed, Status: v1.StatusFailing, Node: "node-1", Cause: &v1.Cause{Code: "CrashLoop"},
			Containers: []v1.Container{{Name: v1.MainContainer, Image: "dev:v1"}},
		})
		s.Finish(v1.Result{Error: &v1.Error{Code: "FAILED"}})
		if got := store.records["a"]; got.Blueprint != "dev" || got.Node != "node-1" || got.Image != "dev:v1" ||
			got.Cause != "CrashLoop" {
			t.Errorf("%+v", got)
		}
	})
}

// A job that was cut off continues in the same record.
func TestRecorderResumes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{records: map[string]Record{"a": {
			ID: "a", Status: v1.JobStatusRunning, CreatedAt: at(0),
			Events: []v1.JobEvent{{ID: "1", Type: v1.JobEventStatus, Message: "Scheduling", Status: "Provisioning"}},
		}}}
		r := NewRecorder(withFallback(store), time.Now)
		s := event.NewStream("alice-1", time.Now, r)
		r.Begin(t.Context(), Start{ID: "a", Resumed: true})
		reach(s, threeStages...)
		s.Finish(v1.Result{})
		if got := store.records["a"]; !slices.Equal(stagesOf(got), threeStages) || !got.CreatedAt.Equal(at(0)) ||
			got.Status != v1.JobStatusCompleted {
			t.Errorf("%+v", got)
		}
	})
}

// A record that is not written yet does not grow without end either.
func TestRecorderIsBounded(t *testing.T) {
	r := NewRecorder(withFallback(nil), time.Now)
	for i := range 3000 {
		r.Handle(v1.Event{Object: &v1.ObjectEvent{
			Object:  fmt.Sprintf("pod/%d", i),
			Message: strings.Repeat("x", maxMessage),
		}})
	}
	if n, most := r.record.size(), MaxSize+manyEntries*2*maxMessage; n > most {
		t.Errorf("%d bytes, want at most %d", n, most)
	}
}

// While nothing happens there are signs of life.
func TestRecorderHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &memory{}
		r := NewRecorder(withFallback(store), time.Now)
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

// A record begins once, with what has happened before, and ends once; what comes later is not in it.
func TestRecorderBeginsAndEndsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stores := withFallback(nil)
		r := NewRecorder(stores, time.Now)
		began := time.Now()
		r.End(0, errAway) // nothing has begun
		r.Handle(v1.Event{Seq: 1, At: began, Progress: &v1.Progress{Message: "before"}})
		time.Sleep(time.Minute)
		r.Begin(t.Context(), Start{
			ID: "a", WorkspaceName: "alice-1", UserString: "alice/dev", Username: "alice",
			Namespace: "other", Blueprint: "dev",
		})
		r.Begin(t.Context(), Start{ID: "b"})
		r.Handle(v1.Event{Seq: 2, Stage: &v1.Snapshot{Stage: v1.StageScheduling}})
		time.Sleep(time.Second)
		ended := time.Now()
		r.End(2, nil)
		r.End(2, errAway)
		r.Handle(v1.Event{Seq: 3, Stage: &v1.Snapshot{Stage: v1.StageRunning}})
		r.Handle(v1.Event{Seq: 4, Result: &v1.Result{Error: &v1.Error{Code: "FAILED"}}})
		if all, err := list(t.Context(), stores.cluster); err != nil || len(all) != 0 {
			t.Errorf("in the client's namespace there are %+v, %v", all, err)
		}
		stores.cluster.Namespace = "other"
		all, err := list(t.Context(), stores.cluster)
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		got := all[0]
		if got.ID != "a" || got.WorkspaceName != "alice-1" || got.UserString != "alice/dev" ||
			got.Username != "alice" ||
			got.Blueprint != "dev" ||
			!got.CreatedAt.Equal(began) || !got.FinishedAt.Equal(ended) || !got.UpdatedAt.Equal(ended) ||
			got.Status != v1.JobStatusCompleted {
			t.Errorf("%+v", got)
		}
		want := []string{"before", "Scheduling", "not followed"}
		var messages []string
		for _, e := range got.Events {
			messages = append(messages, e.Message)
		}
		if !slices.Equal(messages, want) || got.Events[2].Status != StatusOK || !got.Events[2].Timestamp.Equal(ended) {
			t.Errorf("%q", lines(got))
		}
	})
}

// How a job ended is its last entry: what it was waited for, or the error, which is cut.
func TestResultOfAJob(t *testing.T) {
	for want, c := range map[string]struct {
		stage v1.Stage
		err   error
	}{
		"OK ready":         {v1.StageRunning, nil},
		"OK not followed":  {v1.StagePulling, nil},
		"UNAVAILABLE away": {v1.StagePulling, errAway},
		"FAILED " + strings.Repeat("x", 1021) +
			"…": {v1.StageFailed, fault.New(fault.Failed, "%s", strings.Repeat("x", 2000))},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &memory{}
			r := NewRecorder(withFallback(m), time.Now)
			s := event.NewStream("alice-1", time.Now, r)
			r.Begin(t.Context(), Start{ID: "a"})
			reach(s, c.stage)
			r.End(s.Seq(), c.err)
			s.Finish(v1.Result{})
			entries := m.records["a"].Events
			if last := entries[len(entries)-1]; last.Status+" "+last.Message != want || last.ObjectName != "result" ||
				last.Type != v1.JobEventProgress {
				t.Errorf("%+v, want %q", last, want)
			}
		})
	}
}
