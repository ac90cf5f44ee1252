package job

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
)

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
		if got.ID != "a" || got.WorkspaceName != "alice-1" || got.UserString != "alice/dev" || got.Username != "alice" ||
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
