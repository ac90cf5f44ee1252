package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// dryRunFlag is --dry-run, as kubectl and helm have it: client writes nothing,
// server has the API server check everything and keep nothing.
type dryRunFlag struct{ mode string }

func (d *dryRunFlag) register(cmd *cobra.Command) {
	cmd.Flags().Var(d, "dry-run", "print the objects that would change, and change nothing; with server the API server checks them: "+strings.Join(dryRuns(), ", "))
	_ = cmd.RegisterFlagCompletionFunc("dry-run", cobra.FixedCompletions(dryRuns(), cobra.ShellCompDirectiveNoFileComp))
}

func dryRuns() []string { return []string{"client", "server"} }

func (d *dryRunFlag) on() bool     { return d.mode != "" }
func (d *dryRunFlag) server() bool { return d.mode == "server" }

// String, Set and Type make it a pflag.Value.
func (d *dryRunFlag) String() string { return d.mode }

// Set reads the mode.
func (d *dryRunFlag) Set(text string) error {
	if !slices.Contains(dryRuns(), text) {
		return fmt.Errorf("%q is none of %s", text, strings.Join(dryRuns(), ", "))
	}
	d.mode = text
	return nil
}

// Type is what help shows as the value.
func (d *dryRunFlag) Type() string { return "MODE" }

// because gives a dry run that the end of the context has stopped the reason of
// that: nothing but reading was under way.
func (d *dryRunFlag) because(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	why := *fault.From(context.Cause(ctx))
	if why.Code == fault.DeadlineExceeded {
		why.Message += " of finding out what would change; nothing was changed"
	}
	return &why
}

// show prints what was found out, or passes on why it was not.
func (d *dryRunFlag) show(ctx context.Context, a *app, format printer.Format, changes apply.Changes, err error) error {
	if err := d.because(ctx, err); err != nil {
		return err
	}
	objects := make([]printer.Object, 0, len(changes))
	for _, c := range changes {
		objects = append(objects, printer.Object{Action: string(c.Action), Content: c.Object.Object})
	}
	if err := printer.PrintObjects(a.streams, format, objects); err != nil {
		return err
	}
	checked := ""
	if d.server() && len(changes) > 0 {
		checked = " The API server has checked them."
	}
	printer.PrintNote(a.streams, fmt.Sprintf("dry run: %d changes.%s Nothing was changed.", len(changes), checked))
	return nil
}
