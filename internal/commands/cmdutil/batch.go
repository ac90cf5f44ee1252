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

// Work does what a command does with workspace i of its batch. It begins the
// stream of events of that workspace, with sinks besides the view.
type Work func(i int, begin func(sinks ...event.Sink) *event.Stream) v1.Result

// RunBatch works on the workspaces of a batch, some at a time, and shows that in
// view. total makes the result of the command of those of the workspaces. A
// workspace for which there is no time left is not started.
func RunBatch(ctx context.Context, b wording.Batch, view event.Sink, work Work, total func([]v1.Result) v1.Result) v1.Result {
	sink, finish := view, func(v1.Result) {}
	if !b.Single { // their events are on one stream, which ends with the result of all
		joint := event.NewStream("", time.Now, view)
		sink, finish = joint.Join(), joint.Finish
	}
	results := make([]v1.Result, len(b.Members))
	ForEach(len(b.Members), b.Parallel, func(i int) {
		var stream *event.Stream
		begin := func(sinks ...event.Sink) *event.Stream {
			stream = event.NewStream(b.Members[i].ID, time.Now, append(sinks, sink)...)
			return stream
		}
		var r v1.Result
		if ctx.Err() == nil {
			r = work(i, begin)
		} else {
			r = notStarted(ctx)
			begin()
		}
		if r.Error != nil {
			r.Error.Hint = b.Members[i].Located(r.Error.Hint)
		}
		results[i] = r
		stream.Finish(r)
	})
	r := total(results)
	finish(r)
	return r
}

// notStarted is the result of a workspace for which there was no time left.
func notStarted(ctx context.Context) v1.Result {
	why := *fault.From(context.Cause(ctx))
	why.Message += ": not started"
	return v1.Result{Error: result.NewError(&why)}
}

// Totals counts how several workspaces ended, and decides the exit status: that of
// an interruption, else 3 if any failed.
func Totals(results []v1.Result, took time.Duration, requests int) v1.Totals {
	t := v1.Totals{Seconds: took.Seconds(), Requests: requests}
	for _, r := range results {
		switch {
		case r.Error == nil:
			t.Succeeded++
			continue
		case fault.Code(r.Error.Code) == fault.Interrupted, fault.Code(r.Error.Code) == fault.Terminated:
			t.ExitStatus = r.Error.ExitStatus
		default:
			t.ExitStatus = max(t.ExitStatus, fault.Failed.Exit())
		}
		t.Failed++
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
