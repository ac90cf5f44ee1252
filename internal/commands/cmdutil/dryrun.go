package cmdutil

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// AddDryRunFlag adds --dry-run.
func AddDryRunFlag(cmd *cobra.Command, mode *apply.DryRun) {
	EnumVar(cmd, mode, "dry-run", "print the objects that would change, and change nothing; with server, the API server checks them", apply.DryRunClient, apply.DryRunServer)
}

// DryRunError is the error of a dry run: if its context has ended, the reason for
// that, since nothing but reading was under way.
func DryRunError(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	why := *fault.From(context.Cause(ctx))
	if why.Code == fault.DeadlineExceeded {
		why.Message += " while computing the changes; nothing was changed"
	}
	return &why
}

// PrintChanges prints the changes of a dry run, or returns why there are none.
func PrintChanges(ctx context.Context, s terminal.Streams, format printer.Format, mode apply.DryRun, changes apply.Changes, err error) error {
	if err := DryRunError(ctx, err); err != nil {
		return err
	}
	objects := result.NewObjects()
	for _, c := range changes {
		objects.Add(string(c.Action), c.Object.Object)
	}
	if err := printer.Print(s, format, objects); err != nil {
		return err
	}
	checked := ""
	if mode == apply.DryRunServer && len(changes) > 0 {
		checked = " The API server has checked them."
	}
	printer.PrintNote(s, fmt.Sprintf("dry run: %s.%s Nothing was changed.", english.Plural(len(changes), "change"), checked))
	return nil
}
