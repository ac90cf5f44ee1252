// Package start is the command `berth start`.
package start

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
		Use:        "start USERSTR|ID...",
		SuggestFor: []string{"resume", "unpause"},
		Short:      "Start workspaces that were stopped",
		Long: `Start workspaces that were stopped, as they were: what they are made of comes from
their records, blueprints are not read. It ends as "berth provision" does.

A workspace that runs already stays as it is.`,
		Example: `  berth start alice~dev
  berth start alice~dev bob~dev --timeout 2m
  berth start --owner alice --no-wait`,
	}, "it runs", runF)
	cmdutil.AddStuckAfterFlag(cmd, &o.StuckAfter)
	return cmd
}

// Run starts the workspaces.
func Run(ctx context.Context, o *batch.Options) error {
	one := func(ctx context.Context, p *provision.Provisioner, w batch.Workspace, stream *event.Stream) v1.Result {
		return batch.StartResult(p.Start(ctx, w.Target, stream))
	}
	return o.Run(ctx, batch.Change{Verb: "start", Done: "started", Starts: true, One: one})
}
