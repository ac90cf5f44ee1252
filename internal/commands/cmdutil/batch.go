package cmdutil

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/progress"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
)

const defaultParallel = 4

// AddParallelFlag adds the --parallel of a command that works on several
// workspaces at a time.
func AddParallelFlag(cmd *cobra.Command, parallel *int) {
	cmd.Flags().IntVar(parallel, "parallel", defaultParallel, "how many workspaces to work on at a time")
	NoFlagValues(cmd, "parallel")
}

// CheckParallel refuses a --parallel that nothing could be done with.
func CheckParallel(parallel int) error {
	if parallel < 1 {
		return fault.New(fault.InvalidArgument, "--parallel must be at least 1, got %d", parallel)
	}
	return nil
}

// ParallelFlag is --parallel as one would type it; nothing if it is the default.
func ParallelFlag(parallel int) []string {
	if parallel == defaultParallel {
		return nil
	}
	return []string{"--parallel " + strconv.Itoa(parallel)}
}

// ForEach works on n things, some at a time, and starts them in their order.
func ForEach(n, parallel int, work func(i int)) {
	var group errgroup.Group
	group.SetLimit(parallel)
	for i := range n {
		group.Go(func() error {
			work(i)
			return nil
		})
	}
	_ = group.Wait() // each keeps its own error
}

// Batch is the work of a command on its workspaces: each has a stream of events,
// which the view shows, and a result.
type Batch struct {
	wording.Batch
	Results []v1.Result
	sink    event.Sink    // of the streams of the workspaces
	joint   *event.Stream // of all of them; nil if there is only one
}

// NewBatch starts the work on a batch, which view shows.
func NewBatch(b wording.Batch, view event.Sink) *Batch {
	batch := &Batch{Batch: b, Results: make([]v1.Result, len(b.Members)), sink: view}
	if !b.Single {
		batch.joint = event.NewStream("", time.Now, view)
		batch.sink = batch.joint.Join()
	}
	return batch
}

// Stream starts the stream of workspace i, with sinks besides the view.
func (b *Batch) Stream(i int, sinks ...event.Sink) *event.Stream {
	return event.NewStream(b.Members[i].ID, time.Now, append(sinks, b.sink)...)
}

// Finish ends the stream of workspace i with its result.
func (b *Batch) Finish(i int, stream *event.Stream, r v1.Result) {
	if r.Error != nil {
		r.Error.Hint = b.Members[i].Located(r.Error.Hint)
	}
	b.Results[i] = r
	stream.Finish(r)
}

// FinishAll ends the work on several workspaces with the result of all.
func (b *Batch) FinishAll(r v1.Result) { b.joint.Finish(r) }

// NotStarted is the result of a workspace for which no time is left.
func NotStarted(ctx context.Context) v1.Result {
	why := *fault.From(context.Cause(ctx))
	return v1.Result{Error: result.NewError(why.WithDetail("not started"))}
}

// Totals counts how several workspaces ended, and decides the exit status: that of
// an interruption, else 3 if any failed, else that of the time-out, else that of one that
// runs already.
func Totals(results []v1.Result, took time.Duration, requests int) v1.Totals {
	t, timedOut := v1.Totals{Seconds: took.Seconds(), Requests: requests}, false
	for _, r := range results {
		switch {
		case r.Error == nil:
			t.Succeeded++
			continue
		case fault.Code(r.Error.Code) == fault.Interrupted, fault.Code(r.Error.Code) == fault.Terminated:
			t.ExitStatus = r.Error.ExitStatus
		case fault.Code(r.Error.Code) == fault.AlreadyExists:
			t.AlreadyRunning++
		case fault.Code(r.Error.Code) == fault.DeadlineExceeded:
			timedOut = true
		default:
			t.ExitStatus = max(t.ExitStatus, fault.Failed.Exit())
		}
		t.Failed++
	}
	switch {
	case t.ExitStatus != 0:
	case timedOut:
		t.ExitStatus = fault.DeadlineExceeded.Exit()
	case t.AlreadyRunning > 0:
		t.ExitStatus = fault.AlreadyExists.Exit()
	}
	return t
}

// Report prints what a command ended with that showed progress, and fails with the
// exit status of that.
func Report(s terminal.Streams, format printer.Format, e result.Ending, view progress.Renderer) error {
	if err := printer.Report(s, format, e, view.Shown()); err != nil {
		return err
	}
	if status := e.Exit(); status != 0 {
		return ExitError(status)
	}
	return nil
}
