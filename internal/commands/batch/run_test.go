package batch

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// The exit status of a batch: any failure is 3, a time-out alone 5; an interruption is its own. One that runs
// already has not failed: that ends as it does alone.
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
		{[]v1.Result{failed(fault.DeadlineExceeded), failed(fault.DeadlineExceeded)}, 5},
		{[]v1.Result{failed(fault.DeadlineExceeded), ok, failed(fault.AlreadyExists)}, 5},
		{[]v1.Result{failed(fault.DeadlineExceeded), failed(fault.Failed)}, 3},
		{[]v1.Result{failed(fault.Interrupted), failed(fault.DeadlineExceeded)}, 130},
		{[]v1.Result{failed(fault.Unavailable), ok, failed(fault.AlreadyExists)}, 3},
		{[]v1.Result{ok, failed(fault.AlreadyExists), failed(fault.AlreadyExists)}, 6},
		{[]v1.Result{failed(fault.AlreadyExists)}, 6},
		{[]v1.Result{failed(fault.AlreadyExists), failed(fault.Interrupted)}, 130},
		{[]v1.Result{failed(fault.Interrupted), failed(fault.Failed)}, 130},
		{[]v1.Result{failed(fault.Interrupted), failed(fault.Conflict), ok}, 130},
		{[]v1.Result{failed(fault.Failed), failed(fault.Terminated), failed(fault.Failed), ok}, 143},
	} {
		got := totals(test.results, time.Second, 7)
		good := len(slices.DeleteFunc(slices.Clone(test.results), func(r v1.Result) bool { return r.Error != nil }))
		ran := 0
		for _, r := range test.results {
			if r.Error != nil && fault.Code(r.Error.Code) == fault.AlreadyExists {
				ran++
			}
		}
		want := v1.Totals{
			Succeeded: good, AlreadyRunning: ran, Failed: len(test.results) - good, ExitStatus: test.want,
			Seconds: 1, Requests: 7,
		}
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

// One workspace ends the stream with its own result, several with that of all, and
// hints get the flags that led there.
func TestWork(t *testing.T) {
	one, two := wording.Title{ID: "a-1", Flags: []string{"-n t"}}, wording.Title{ID: "b-1"}
	for name, test := range map[string]struct {
		batch  wording.Batch
		events int
	}{
		"one":     {Single("", one), 2},
		"several": {wording.Batch{Members: []wording.Title{one, two}}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			view, hints := &seen{}, make([]*v1.Error, len(test.batch.Members))
			work := Work{
				Batch: test.batch, Requests: func() int { return 7 },
				Summary: func(results []v1.Result, totals v1.Totals) v1.Result {
					return v1.Result{Summary: &v1.ProvisionSummary{
						Items:  make([]v1.ProvisionItem, len(results)),
						Totals: totals,
					}}
				},
				One: func(_ context.Context, m Member) v1.Result {
					m.Stream.Step(v1.Step{Name: "work"})
					hints[m.Index] = &v1.Error{Message: "failed", Hint: "`berth status`", Code: string(fault.Failed)}
					return v1.Result{Error: hints[m.Index]}
				},
			}
			r := work.all(t.Context(), view)
			if got := hints[0].Hint; got != "`berth status -n t`" {
				t.Errorf("the hint is %q", got)
			}
			last := view.events[len(view.events)-1]
			if last.Result == nil || (last.Result.Summary == nil) != test.batch.Single ||
				len(view.events) != test.events {
				t.Errorf("the view was given %+v", view.events)
			}
			if s := r.Summary; s != nil &&
				(len(s.Items) != 2 || s.Failed != 2 || s.Requests != 7 || s.ExitStatus != fault.Failed.Exit()) {
				t.Errorf("the summary is %+v", s)
			}
		})
	}
}

// Once the time is over, nothing is begun: the work on a member would panic.
func TestNoTimeLeft(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(fault.New(fault.DeadlineExceeded, "timed out after 1s"))
	work := Work{
		Batch:   Single("", wording.Title{ID: "a-1"}),
		Summary: func([]v1.Result, v1.Totals) v1.Result { return v1.Result{} },
	}
	got := work.all(ctx, &seen{}).Error
	if got.Message != "timed out after 1s: not started" || got.Detail != "not started" ||
		got.ExitStatus != fault.DeadlineExceeded.Exit() {
		t.Errorf("%+v", got)
	}
}
