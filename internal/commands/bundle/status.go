package bundle

import (
	"context"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result/bundle"
)

// NewList makes `berth bundle list`.
func NewList(f *cmdutil.Factory, runF func(context.Context, *ClusterOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "list",
		SuggestFor: []string{"ls", "get"},
		Short:      "List the bundles that are installed",
		Long: "List the BundleInstances of the cluster, those of other programs included, and what keeps " +
			"them from being healthy.",
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	o := newCluster(f, cmd, "text", "wide", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	o.Open = f.For(cmd).FollowedBundles
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runF(cmd.Context(), o) }
	return cmd
}

// List prints the instances.
func List(ctx context.Context, o *ClusterOptions) error {
	r, err := o.Open(ctx, o.System)
	if err != nil {
		return err
	}
	states, err := r.States(ctx)
	if err != nil {
		return err
	}
	return printer.Print(o.IO, o.Output, bundle.List{BundleStateList: v1.BundleStateList{Items: states}})
}

// NewStatus makes `berth bundle status`.
func NewStatus(f *cmdutil.Factory, runF func(context.Context, *ClusterOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status NAME",
		Short: "Show what is installed, and its health",
		Long: `Show an instance: what is wanted and what is installed, its conditions, its bundles,
and how the cluster is with each of its objects. Of a workload that is not as it should
be, its pods are looked at: what keeps them from running, and what to do. Of an operator,
there are the namespaces that it watches, and when its certificates end.`,
		Example: `  berth bundle status shop
  berth bundle status shop -o json | jq .conditions`,
		Args:              cmdutil.OneArg("bundle"),
		ValidArgsFunction: completeInstance(f),
	}
	o := newCluster(f, cmd, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	o.Open = f.For(cmd).FollowedBundles
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Name = args[0]
		return runF(cmd.Context(), o)
	}
	return cmd
}

// Status prints an instance.
func Status(ctx context.Context, o *ClusterOptions) error {
	r, err := o.Open(ctx, o.System)
	if err != nil {
		return err
	}
	state, err := r.State(ctx, o.Name)
	if err != nil {
		return err
	}
	return printer.Print(o.IO, o.Output, bundle.State{BundleState: *state})
}
