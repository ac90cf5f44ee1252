package cmdutil

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// DryRun is the value of --dry-run, as kubectl and helm have it; empty if it was
// not given.
type DryRun string

// The modes: one writes nothing, the other has the API server check everything
// and keep nothing.
const (
	DryRunClient DryRun = "client"
	DryRunServer DryRun = "server"
)

// AddDryRunFlag adds --dry-run.
func AddDryRunFlag(cmd *cobra.Command, mode *DryRun) {
	EnumVar(cmd, mode, "dry-run", "print the objects that would change, and change nothing; with server, the API server checks them", DryRunClient, DryRunServer)
}

// Because replaces the error of a dry run that was stopped by the reason for that:
// nothing but reading was under way.
func (d DryRun) Because(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	why := *fault.From(context.Cause(ctx))
	if why.Code == fault.DeadlineExceeded {
		why.Message += " while computing the changes; nothing was changed"
	}
	return &why
}

// Show prints the changes, or passes on why there are none.
func (d DryRun) Show(ctx context.Context, s terminal.Streams, format printer.Format, changes apply.Changes, err error) error {
	if err := d.Because(ctx, err); err != nil {
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
	if d == DryRunServer && len(changes) > 0 {
		checked = " The API server has checked them."
	}
	printer.PrintNote(s, fmt.Sprintf("dry run: %d changes.%s Nothing was changed.", len(changes), checked))
	return nil
}
