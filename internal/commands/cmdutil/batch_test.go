package cmdutil

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// The exit status of a batch: any failure is 3; an interruption is its own.
func TestTotals(t *testing.T) {
	ok := v1.Result{Workspace: &v1.Workspace{}}
	failed := func(code fault.Code) v1.Result {
		return v1.Result{Error: &v1.Error{Code: string(code), ExitStatus: code.Exit()}}
	}
	for _, test := range []struct {
		results []v1.Result
		want    int
	}{
		{nil, 0},
		{[]v1.Result{ok, ok}, 0},
		{[]v1.Result{ok, failed(fault.Failed)}, 3},
		{[]v1.Result{ok, failed(fault.NotFound)}, 3},
		{[]v1.Result{failed(fault.DeadlineExceeded), failed(fault.DeadlineExceeded)}, 3},
		{[]v1.Result{failed(fault.Unavailable), ok, failed(fault.AlreadyExists)}, 3},
		{[]v1.Result{failed(fault.Interrupted), failed(fault.Failed)}, 130},
		{[]v1.Result{failed(fault.Interrupted), failed(fault.Conflict), ok}, 130},
		{[]v1.Result{failed(fault.Failed), failed(fault.Terminated), failed(fault.Failed), ok}, 143},
	} {
		got := Totals(test.results, time.Second, 7)
		good := len(slices.DeleteFunc(slices.Clone(test.results), func(r v1.Result) bool { return r.Error != nil }))
		want := v1.Totals{Succeeded: good, Failed: len(test.results) - good, ExitStatus: test.want, Seconds: 1, Requests: 7}
		if got != want {
			t.Errorf("%+v: %+v, want %+v", test.results, got, want)
		}
	}
}

// seen keeps the events that a view is given.
type seen struct {
	mu     sync.Mutex
	events []v1.Event
}

func (s *seen) Handle(e v1.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, e)
}

// One workspace ends the stream with its own result, several with that of all; none
// is started without time left, and hints get the flags that led there.
func TestRunBatch(t *testing.T) {
	one, two := wording.Title{ID: "a-1", Flags: []string{"-n t"}}, wording.Title{ID: "b-1"}
	for name, test := range map[string]struct {
		late   bool // the time is over
		batch  wording.Batch
		works  int
		events int
		want   string // the message and the hint of the first result
	}{
		"one":               {false, wording.Batch{Single: true, Members: []wording.Title{one}, Parallel: 4}, 1, 2, "failed `berth status -n t`"},
		"several":           {false, wording.Batch{Members: []wording.Title{one, two}, Parallel: 1}, 2, 5, "failed `berth status -n t`"},
		"without time left": {true, wording.Batch{Members: []wording.Title{one, two}, Parallel: 1}, 0, 3, "timed out after 1s: not started "},
	} {
		t.Run(name, func(t *testing.T) {
			view, works := &seen{}, 0
			ctx, stop := context.WithCancelCause(t.Context())
			if test.late {
				stop(fault.New(fault.DeadlineExceeded, "timed out after 1s"))
			}
			defer stop(nil)
			r := RunBatch(ctx, test.batch, view, func(_ int, begin func(...event.Sink) *event.Stream) v1.Result {
				works++
				begin().Step(v1.Step{Name: "work"})
				return v1.Result{Error: &v1.Error{Message: "failed", Hint: "`berth status`"}}
			}, func(results []v1.Result) v1.Result {
				if test.batch.Single {
					return results[0]
				}
				return v1.Result{Error: results[0].Error, Summary: &v1.ProvisionSummary{Totals: v1.Totals{Failed: len(results)}}}
			})
			last := view.events[len(view.events)-1]
			if got := r.Error.Message + " " + r.Error.Hint; got != test.want || works != test.works {
				t.Errorf("%q after %d works", got, works)
			}
			if last.Result == nil || (last.Result.Summary == nil) != test.batch.Single || len(view.events) != test.events {
				t.Errorf("the view was given %+v", view.events)
			}
		})
	}
}
