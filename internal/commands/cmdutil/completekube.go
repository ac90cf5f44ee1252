package cmdutil

import (
	"context"
	"maps"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CompleteKubeFlags completes the flags that say which cluster and which namespace is meant.
func (f *Factory) CompleteKubeFlags(root *cobra.Command) {
	complete := func(flag string, values func(context.Context) ([]cobra.Completion, error)) {
		_ = root.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
			defer cancel()
			all, err := values(ctx)
			if err != nil {
				return nil, cobra.ShellCompDirectiveError
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		})
	}
	complete("context", f.contexts)
	complete("namespace", f.namespaces)
}

// contexts are those of the kubeconfig.
func (f *Factory) contexts(ctx context.Context) ([]cobra.Completion, error) {
	return Await(ctx, func() ([]cobra.Completion, error) {
		c, err := f.Kube.ToRawKubeConfigLoader().RawConfig()
		return slices.Sorted(maps.Keys(c.Contexts)), err
	})
}

// namespaces are those of the cluster, if the caller may list them.
func (f *Factory) namespaces(ctx context.Context) (names []cobra.Completion, err error) {
	client, err := Await(ctx, f.Client)
	if err != nil {
		return nil, err
	}
	list, err := client.CoreV1().Namespaces().List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	for _, n := range list.Items {
		names = append(names, n.Name)
	}
	return names, nil
}
