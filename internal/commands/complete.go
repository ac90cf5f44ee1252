package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/provision/inventory"
)

// completionTime is how long somebody who pressed Tab waits for the cluster.
const completionTime = 2 * time.Second

// completeWorkspaces completes the names of workspaces from the cluster: as
// user strings, for that is what one has typed to make them.
func (a *app) completeWorkspaces(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() != "delete" { // which takes several
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	p, err := a.provisioner(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	list, err := p.List(ctx, inventory.Query{Namespace: p.Client.Namespace})
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []cobra.Completion
	for _, w := range list.Items {
		name := w.UserString
		if name == "" {
			name = "id/" + w.ID
		}
		names = append(names, cobra.CompletionWithDesc(name, string(w.Stage)+", "+w.Blueprint))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
