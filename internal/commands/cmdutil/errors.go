package cmdutil

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// ExitError is an exit status whose reason has been printed.
type ExitError int

func (ExitError) Error() string { return "the command failed" }

// PassesStatus is the annotation of a command that passes on the status of another one: the
// status of its own failures is ExecStatus.
const PassesStatus = "passes-status"

// Exit prints the error that a command line ended with, unless it has been printed, and gives
// the exit status. Commands that its hint quotes get the flags that led to the cluster.
func (f *Factory) Exit(ctx context.Context, command *cobra.Command, args []string, err error) int {
	if err == nil {
		return 0
	}
	if status, ok := errors.AsType[ExitError](err); ok {
		return int(status)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = context.Cause(ctx)
	}
	if code := fault.CodeOf(err); code != fault.OutputFailed { // which is printed where all of them are
		document := *result.NewError(err)
		document.Hint = wording.Title{Flags: ClusterFlags(command)}.Located(document.Hint)
		_ = printer.PrintError(f.IO, formatOf(args), document) // the stream remembers it
		return code.Exit()
	}
	return fault.OutputFailed.Exit()
}

// formatOf finds --output among arguments that may not have been parsed: an error
// in them is printed in the format that they ask for.
func formatOf(args []string) printer.Format {
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
