// Package portforward is the command `berth port-forward`.
package portforward

import (
	"context"
	"net"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/forward"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// Options are what the command line says.
type Options struct {
	IO         terminal.Streams
	Workspaces func() (inventory.Reader, error)
	// States says whether a workspace without a pod is stopped; it is asked for then.
	States func(context.Context) (lifecycle.Place, func(), error)
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string

	Workspace string
	Ports     []forward.Port
	Addresses []string
	Place     pod.Place
	Output    printer.Format
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO, Workspaces: f.Workspaces}
	cmd := &cobra.Command{
		Use:        "port-forward USERSTR|ID [LOCAL:]REMOTE...",
		SuggestFor: []string{"forward", "tunnel", "pf"},
		Short:      "Make local ports lead to a workspace",
		Long: `Listen on ports of this machine and forward connections to ports of a workspace, until
Ctrl-C (exit status 130). With a local port of 0, or none before the colon, a free one is
picked; the addresses are printed on standard output, one a line.

A workspace that is not running yet is waited for; of one that is stopped, that is an
error. When its pod is replaced or the connection is lost, connect again and say so on
standard error; the local ports stay open, and connections meanwhile wait. The command
ends when the workspace is deleted.`,
		Example: `  berth port-forward alice~dev 8080
  berth port-forward alice~dev 9000:80 5432
  berth port-forward alice~dev :80 --output jsonl
  berth port-forward alice~dev 8080 --address 0.0.0.0`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cmdutil.UsageError(cmd, fault.New(fault.InvalidArgument,
					"requires one workspace and at least one port"))
			}
			return nil
		},
		ValidArgsFunction: f.CompleteWorkspace,
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) (err error) {
			o.Workspace, o.Flags = args[0], cmdutil.ClusterFlags(cmd)
			if o.Ports, err = forward.ParsePorts(args[1:]); err != nil {
				return err
			}
			return o.validate()
		}),
	}
	o.States = f.For(cmd).States
	cmd.Flags().StringSliceVar(&o.Addresses, "address", []string{"localhost"},
		"the addresses of this machine to listen on: IP addresses, or localhost")
	cmdutil.NoFlagValues(cmd, "address")
	f.AddPodFlag(cmd, &o.Place, cmdutil.FirstArgument)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "jsonl")
	return cmd
}

// validate finds addresses that are none.
func (o *Options) validate() error {
	if len(o.Addresses) == 0 {
		return fault.New(fault.InvalidArgument, "--address is empty")
	}
	for _, address := range o.Addresses {
		if address != "localhost" && net.ParseIP(address) == nil {
			return fault.New(fault.InvalidArgument, "--address %q is neither an IP address nor localhost", address)
		}
	}
	return nil
}
