// Package version is the command `berth version`.
package version

import (
	"context"

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
	return cmd
}

// Run prints the version.
func Run(_ context.Context, o *Options) error {
	return printer.Print(o.IO, o.Output, result.Version{Version: cmdutil.Version()})
}
