package cmdutil

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/result"
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

// NotStarted is the result of a workspace for which there was no time left.
func NotStarted(ctx context.Context) v1.Result {
	why := *fault.From(context.Cause(ctx))
	why.Message += ": not started"
	return v1.Result{Error: result.NewError(&why)}
}

// Tally counts how several workspaces ended, and decides the exit status: that of
// an interruption, else 3 if any failed.
type Tally struct{ Succeeded, Failed, ExitStatus int }

// Add counts one of them by its error.
func (t *Tally) Add(e *v1.Error) {
	switch {
	case e == nil:
		t.Succeeded++
	case fault.Code(e.Code) == fault.Interrupted, fault.Code(e.Code) == fault.Terminated:
		t.Failed++
		t.ExitStatus = e.ExitStatus
	default:
		t.Failed++
		t.ExitStatus = max(t.ExitStatus, fault.Failed.Exit())
	}
}
