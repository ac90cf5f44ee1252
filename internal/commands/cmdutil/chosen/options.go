package chosen

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// Options are what the command line says of a command that changes the state of workspaces.
type Options struct {
	IO          terminal.Streams
	Provisioner func() (*provision.Provisioner, error)
	Recorders   func(context.Context) (*cmdutil.Recorders, error)
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string

	Choice
	Wait       bool // for another command that works on it
	NoWait     bool // until it is so
	Yes        bool // without a question
	StuckAfter time.Duration
	Timeout    time.Duration
	Output     printer.Format
}

// NewCmd completes a command that has its texts; until is what it waits for.
func (o *Options) NewCmd(f *cmdutil.Factory, cmd *cobra.Command, until string, runF func(context.Context, *Options) error) *cobra.Command {
	deps, flags := f.For(cmd), cmd.Flags()
	o.IO, o.Provisioner, o.Recorders = f.IO, deps.Remover, deps.Recorders
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	flags.BoolVar(&o.NoWait, "no-wait", false, "do not wait until "+until)
	flags.BoolVar(&o.Wait, "wait", false, "if another command works on the workspace, wait for that instead of failing")
	o.addFlags(f, cmd)
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmd.ValidArgsFunction = f.CompleteWorkspaces
	cmd.RunE = cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
		o.Args, o.ByOwner, o.Flags = args, cmd.Flags().Changed("owner"), cmdutil.ClusterFlags(cmd)
		return o.validate()
	})
	return cmd
}

// AddYesFlag adds --yes, of commands that end pods.
func (o *Options) AddYesFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&o.Yes, "yes", "y", false, "do not ask for confirmation")
}

// validate finds what is wrong with the command line.
func (o *Options) validate() error {
	if err := cmdutil.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	if err := cmdutil.CheckStuckAfter(o.StuckAfter, o.NoWait); err != nil {
		return err
	}
	return o.Validate()
}
