// Package ssh is the command `berth ssh`.
package ssh

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
)

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	cmd := cmdutil.Group(&cobra.Command{
		Use:    "ssh",
		Hidden: true, // until it is whole
		Short:  "Enter workspaces with SSH clients and editors",
		Long:   `Enter workspaces with SSH clients and editors.`,
	})
	cmd.AddCommand(newProxyCmd(f, RunProxy))
	return cmd
}

// configDir is where the host key and the configuration are.
func configDir() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "berth", "ssh"), err
}
