// Package restart is the command `berth restart`.
package restart

import (
	"context"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/provision"
)

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *batch.Options) error) *cobra.Command {
	o := new(batch.Options)
	cmd := o.NewCmd(f, &cobra.Command{
		Use:   "restart USERSTR|ID...",
		Short: "Stop workspaces and start them again",
		Long: `Stop workspaces and start them again, as "berth stop" and "berth start" do. One that is
stopped is started. One whose next pod the cluster would refuse, by a quota for example, is
not stopped.

Only files in its storages are kept. Of a workspace whose home directory is in none, that
is said first, and at a terminal you are asked to confirm; --yes skips the question.`,
		Example: `  berth restart alice~dev
  berth restart --owner alice`,
	}, "it runs", runF)
	o.AddYesFlag(cmd)
	cmdutil.AddStuckAfterFlag(cmd, &o.StuckAfter)
	return cmd
}

// Run restarts the workspaces.
func Run(ctx context.Context, o *batch.Options) error {
	one := func(ctx context.Context, p *provision.Provisioner, w batch.Workspace, stream *event.Stream) v1.Result {
		return batch.StartResult(p.Restart(ctx, w.Target, stream))
	}
	return o.Run(ctx, batch.Change{Verb: "restart", Done: "restarted", Starts: true, Ends: true, One: one})
}
