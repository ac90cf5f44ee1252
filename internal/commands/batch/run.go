package batch

import (
	"context"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/progress"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// Work is what a command does to the members of a batch, some at a time, and how that is shown. A command that works
// on one thing has a batch of one: Single makes it.
type Work struct {
	IO     terminal.Streams
	Output printer.Format
	Batch  wording.Batch
	// One works on one member.
	One func(context.Context, Member) v1.Result
	// Recorders keep a record of what is done to each member; nil where no record is kept.
	Recorders *cmdutil.Recorders
	// Timing prints the time of each step at the end.
	Timing bool
	// Ended is told the result once it has been printed; nil for nothing.
	Ended func(v1.Result)

	// Summary makes the result of a batch that is not single. A command that has one does not start on a member once
	// its time is over.
	Summary func([]v1.Result, v1.Totals) v1.Result
	// Begun and Requests count, for the totals, from the beginning of the command.
	Begun    time.Time
	Requests func() int
}

// Member is what the work on one member of a batch is done with.
type Member struct {
	Index  int // in the batch
	Stream *event.Stream
	Jobs   *job.Recorder // nil where no record is kept
}

// Single is the batch of a command that works on one thing; namespace is that of the command.
func Single(namespace string, title wording.Title) wording.Batch {
	return wording.Batch{Single: true, Namespace: namespace, Flags: title.Flags, Members: []wording.Title{title}}
}

// Run works on all members while that is shown, prints the result, and fails with its exit status.
func (w Work) Run(ctx context.Context) error {
	view := progress.New(w.IO, w.Output, w.Batch)
	r := w.all(ctx, view)
	if w.Recorders != nil {
		defer w.Recorders.Warn(w.IO)
	}
	ending := result.Of(r, w.Batch)
	err := printer.Report(w.IO, w.Output, ending, view.Shown())
	if status := result.Exit(ending); err == nil && status != 0 {
		err = cmdutil.ExitError(status)
	}
	if w.Timing {
		_, _ = io.WriteString(w.IO.Err, style.JoinLines(result.TimingLines(r, w.IO.Err.Styles())))
	}
	if w.Ended != nil {
		w.Ended(r)
	}
	return err
}

// all works on all members. Each has a stream of events, which the view shows; several are joined in one, which ends
// with the result of all.
func (w Work) all(ctx context.Context, view event.Sink) v1.Result {
	members, sink := w.Batch.Members, view
	var joint *event.Stream
	if !w.Batch.Single {
		joint = event.NewStream("", time.Now, view)
		sink = joint.Join()
	}
	results := make([]v1.Result, len(members))
	ForEach(len(members), max(w.Batch.Parallel, 1), func(i int) {
		m, sinks := Member{Index: i}, []event.Sink(nil)
		if w.Recorders != nil {
			m.Jobs, sinks = w.Recorders.New()
		}
		m.Stream = event.NewStream(members[i].ID, time.Now, append(sinks, sink)...)
		r := w.one(ctx, m)
		if r.Error != nil {
			r.Error.Hint = members[i].Located(r.Error.Hint)
		}
		results[i] = r
		m.Stream.Finish(r)
	})
	if w.Batch.Single {
		return results[0]
	}
	r := w.Summary(results, totals(results, time.Since(w.Begun), w.Requests()))
	joint.Finish(r)
	return r
}

// one works on one member, if there is time.
func (w Work) one(ctx context.Context, m Member) v1.Result {
	if w.Summary != nil && ctx.Err() != nil {
		why := *fault.From(context.Cause(ctx))
		return v1.Result{Error: result.NewError(why.WithDetail("not started"))}
	}
	return w.One(ctx, m)
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

// totals counts how several workspaces ended, and decides the exit status: that of
// an interruption, else 3 if any failed, else that of the time-out, else that of one that
// runs already.
func totals(results []v1.Result, took time.Duration, requests int) v1.Totals {
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

// ProvisionResult is the result of a provisioning.
func ProvisionResult(outcome provision.Outcome, err error) v1.Result {
	if err == nil {
		return v1.Result{Workspace: outcome.Workspace}
	}
	document := result.NewError(err)
	document.Workspace, document.Logs = outcome.Workspace, outcome.Logs
	document.Left, document.Problems = outcome.Left, append(document.Problems, outcome.Problems...)
	return v1.Result{Error: document}
}

const defaultParallel = 4

// AddParallelFlag adds the --parallel of a command that works on several
// workspaces at a time.
func AddParallelFlag(cmd *cobra.Command, parallel *int) {
	cmd.Flags().IntVar(parallel, "parallel", defaultParallel, "how many workspaces to work on at a time")
	cmdutil.NoFlagValues(cmd, "parallel")
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
