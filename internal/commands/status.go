package commands

import (
	"context"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/terminal"
)

type statusOptions struct {
	output        outputFlag
	allNamespaces bool
	history       historyFlag
}

func newStatus(a *app) *cobra.Command {
	o := &statusOptions{}
	cmd := &cobra.Command{
		Use:   "status [USERSTR|ID]",
		Short: "Show a workspace, or list all",
		Long: `Show one workspace in full: its stage, its containers, what went wrong and what
to do about it. Without an argument, list the workspaces of the namespace.`,
		Example: `  berth status
  berth status alice~dev
  berth status --all-namespaces --output json`,
		Args:              atMostOne("workspace"),
		ValidArgsFunction: a.completeWorkspaces,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	o.output.register(cmd, "text", "wide", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmd.Flags().BoolVarP(&o.allNamespaces, "all-namespaces", "A", false, "list the workspaces of all namespaces")
	o.history.register(cmd)
	return cmd
}

func (o *statusOptions) run(ctx context.Context, a *app, cmd *cobra.Command, args []string) error {
	p, err := a.provisioner(cmd)
	if err != nil {
		return err
	}
	if o.history.on {
		return o.history.run(ctx, a, cmd, p, args, o.output)
	}
	if len(args) == 1 {
		w, err := p.Inspect(ctx, args[0])
		if err != nil {
			return err
		}
		streams := a.streams
		streams.Flags = givenFlags(cmd)
		return terminal.Print(streams, o.output.format, w)
	}
	namespace := p.Client.Namespace
	if o.allNamespaces {
		namespace = metav1.NamespaceAll
	}
	list, err := p.List(ctx, namespace)
	if err != nil {
		return err
	}
	return terminal.Print(a.streams, o.output.format, list)
}
