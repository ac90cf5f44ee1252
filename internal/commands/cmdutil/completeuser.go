package cmdutil

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
)

// CompleteUserString completes the blueprint in the user string of a workspace that may not
// exist yet: alice~ becomes alice~dev. Whose workspace it is, only the user knows.
func (d *Dependencies) CompleteUserString(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	user, rest, named := strings.Cut(typed, "~")
	if len(args) > 0 || !named || user == "" || strings.ContainsAny(rest, "=+") {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), CompletionTimeout)
	defer cancel()
	set, err := d.Blueprints(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var all []cobra.Completion
	for _, name := range set.Names() {
		all = append(all, user+"~"+name)
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}
