// Package stop is the command `berth stop`.
package stop

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
		Use:        "stop USERSTR|ID...",
		SuggestFor: []string{"kill", "halt", "pause", "suspend"},
		Short:      "Stop workspaces and keep their storage",
		Long: `Stop workspaces: their pods end, and everything else is kept, above all their storage.
"berth start" starts them again as they were.

Only files in its storages are kept. Of a workspace whose home directory is in none, that
is said first, and at a terminal you are asked to confirm; --yes skips the question.

A workspace in a workload is taken out of its pod template, and put back by a start.

What is wanted is recorded first, so that a stop that is interrupted is completed when
it is repeated, by "berth reconcile", or by "berth serve workspaces" where that runs.
A workspace that is stopped already stays as it is.`,
		Example: `  berth stop alice~dev
  berth stop alice~dev bob~dev --timeout 2m
  berth stop --owner alice --no-wait`,
	}, "the pods are gone", runF)
	o.AddYesFlag(cmd)
	return cmd
}

// Run stops the workspaces.
func Run(ctx context.Context, o *batch.Options) error {
	one := func(ctx context.Context, p *provision.Provisioner, w batch.Workspace, stream *event.Stream) v1.Result {
		return batch.StopResult(p.Stop(ctx, w.Target, !o.NoWait, stream))
	}
	return o.Run(ctx, batch.Change{Verb: "stop", Done: "stopped", Ends: true, One: one})
}
