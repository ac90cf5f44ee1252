// Package version is the command `berth version`.
package version

import (
	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	var format printer.Format
	cmd := &cobra.Command{
		Use:               "version",
		Short:             "Print the version",
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(*cobra.Command, []string) error {
			return printer.Print(f.IO, format, result.Version{Version: cmdutil.Version()})
		},
	}
	cmdutil.AddOutputFlag(cmd, &format, "text", "json", "yaml", "jsonpath=", "go-template=")
	return cmd
}
