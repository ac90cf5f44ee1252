// Package commands is the command line: one file a verb. It is the only place
// that reads flags, chooses what is printed, and turns an error into text and
// an exit status.
package commands

import (
	"context"
	"errors"
	"strings"

	"github.com/go-logr/logr"
	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// Main runs berth with these arguments and returns the process's exit status.
// leave ends the process at once; it is called when a second signal asks for it.
func Main(args []string, streams terminal.Streams, leave func(status int)) int {
	// The libraries' own log would write into what is drawn.
	klog.SetLogger(logr.Discard())
	app := newApp(streams)
	ctx, stop := withSignals(context.Background(), func(code fault.Code) {
		app.leave()
		leave(code.Exit())
	})
	defer stop()
	root := newRoot(app)
	root.SetArgs(args)
	command, err := root.ExecuteContextC(ctx)
	status := app.exit(ctx, args, err)
	if own := command.Annotations[ownFailures]; own != "" && isOwn(ctx, err) {
		return execFailed
	}
	return status
}

// ownFailures marks the command whose own failures must not be taken for those
// of the command that it runs.
const ownFailures = "own-failures"

// isOwn tells a command's own failure from a status that it passes on, and from
// an interruption.
func isOwn(ctx context.Context, err error) bool {
	_, passedOn := errors.AsType[statusError](err)
	return err != nil && !passedOn && ctx.Err() == nil
}

// exit prints the error that a command ended with, if it has not been, and
// gives the exit status.
func (a *app) exit(ctx context.Context, args []string, err error) int {
	if err == nil {
		return 0
	}
	if status, ok := errors.AsType[statusError](err); ok {
		return int(status)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	f := fault.From(err)
	if printErr := printer.PrintError(a.streams, outputOf(args), printer.ErrorDocument(f)); printErr != nil {
		return fault.Internal.Exit()
	}
	return f.Code.Exit()
}

// statusError is an exit status whose reason has been printed.
type statusError int

func (statusError) Error() string { return "the command failed" }

// outputOf finds --output among arguments that may not have been parsed: an
// error in them is printed in the format that they ask for.
func outputOf(args []string) printer.Format {
	for i, arg := range args {
		if arg == "--" {
			break
		}
		value, ok := strings.CutPrefix(arg, "--output=")
		if !ok {
			value, ok = strings.CutPrefix(arg, "-o")
			value = strings.TrimPrefix(value, "=")
		}
		if (arg == "-o" || arg == "--output") && i+1 < len(args) {
			value, ok = args[i+1], true
		}
		if !ok {
			continue
		}
		if f, err := printer.ParseFormat(value); err == nil {
			return f
		}
	}
	return printer.Format{}
}

// usage is the error of a command line that does not fit.
func usage(cmd *cobra.Command, err error) error {
	return fault.New(fault.InvalidArgument, "%w", err).WithHint("see `%s --help`", cmd.CommandPath())
}
