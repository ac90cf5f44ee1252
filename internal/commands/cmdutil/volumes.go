package cmdutil

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/volume/nodes"
)

// Volumes asks the drivers of scratch volumes, which are in a namespace of their own.
func (f *Factory) Volumes(ctx context.Context, namespace string) (nodes.Nodes, error) {
	client, err := Await(ctx, f.Client)
	if err != nil {
		return nodes.Nodes{}, err
	}
	return nodes.Nodes{Client: client.In(namespace), User: kube.Self(client.Config)}, nil
}

// CompleteVolumes completes arguments, or a flag, with what the drivers know.
func (f *Factory) CompleteVolumes(cmd *cobra.Command, namespace string, values func(context.Context, nodes.Nodes) ([]cobra.Completion, error)) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
	defer cancel()
	all, err := f.Volumes(ctx, namespace)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	found, err := values(ctx, all)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
