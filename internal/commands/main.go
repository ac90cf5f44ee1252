// Package commands is the command line: the root command, signals and the exit
// status. Each verb has a package of its own below it.
package commands

import (
	"context"
	"errors"
	"os"

	"github.com/berthdev/berth/internal/commands/attach"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
)

// Main runs berth with these arguments and returns the exit status of the process.
// exit ends the process at once; it is called on a second signal.
func Main(args []string, streams terminal.Streams, exit func(status int)) int {
	ctx, stop := withSignals(context.Background(), func(code fault.Code) {
		streams.Restore()
		exit(code.Exit())
	})
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	written := &outputs{cancel: cancel}
	streams = streams.Checked(written.failed)
	f := cmdutil.NewFactory(streams, os.Getenv)
	defer f.Close()
	root := newRoot(f)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	status, own := f.Exit(ctx, command, args, err), fault.OutputFailed.Exit()
	if _, passes := command.Annotations[cmdutil.PassesStatus]; passes {
		own = attach.ExitFailed
		if isOwn(ctx, err) {
			status = attach.ExitStatus(err)
		}
	}
	return written.exit(streams, status, own)
}

// isOwn tells a command's own failure from a status that it passes on, and from an
// interruption.
func isOwn(ctx context.Context, err error) bool {
	_, passedOn := errors.AsType[cmdutil.ExitError](err)
	return err != nil && !passedOn && ctx.Err() == nil
}
