// Package version is the command `berth version`.
package version

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// Options are what the command line says.
type Options struct {
	IO     terminal.Streams
	Output printer.Format
	// Check asks for the newest release; nothing is asked otherwise.
	Check bool
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:               "version",
		Short:             "Print the version",
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runF(cmd.Context(), o) },
	}
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "jsonpath=", "go-template=")
	cmd.Flags().BoolVar(&o.Check, "check", false,
		"ask whether a newer version is available, at GitHub or the mirror in BERTH_RELEASES")
	return cmd
}

// Run prints the version.
func Run(ctx context.Context, o *Options) error {
	v := cmdutil.Version()
	if o.Check {
		var err error
		if v.Newest, err = newest(ctx, cmp.Or(os.Getenv("BERTH_RELEASES"), releases)); err != nil {
			return err
		}
	}
	return printer.Print(o.IO, o.Output, result.Version{Version: v})
}
