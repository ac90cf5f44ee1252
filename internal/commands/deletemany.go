package commands

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// aboutDeleteMany is what the help of delete says about several workspaces.
const aboutDeleteMany = `
Several are removed --parallel at a time. Whatever is wrong with the arguments is
said, all of it, before anything is removed. One that fails stops no other. The
exit status is 0 if all are removed and 3 if any of them failed, whatever its own
code is, which stands in the document; of one workspace alone it is that of its
code. --timeout is for all of them together.

With --owner it removes all workspaces of a user in the namespace, or in all
namespaces. It shows them and asks first; --yes answers that, and is needed where
there is no terminal. Who does not say yes ends it with status 130.`

// deleteManyFlags are those of a deletion of several.
type deleteManyFlags struct {
	owner         string
	allNamespaces bool
	yes           bool
	parallel      int
}

func (f *deleteManyFlags) register(cmd *cobra.Command, a *app) {
	flags := cmd.Flags()
	flags.StringVar(&f.owner, "owner", "", "all workspaces of this user")
	flags.BoolVarP(&f.allNamespaces, "all-namespaces", "A", false, "with --owner: in all namespaces")
	flags.BoolVarP(&f.yes, "yes", "y", false, "with --owner: do not ask")
	flags.IntVar(&f.parallel, "parallel", defaultParallel, "how many of several to work on at a time")
	_ = cmd.RegisterFlagCompletionFunc("parallel", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("owner", a.completeFrom(func(w v1.Workspace) string { return w.Owner }))
}

// args finds what is wrong with the command line.
func (o *deleteOptions) args(cmd *cobra.Command, args []string) error {
	owner := cmd.Flags().Changed("owner")
	switch {
	case o.timeout < 0:
		return usage(cmd, fault.New(fault.InvalidArgument, "--timeout %s is negative", o.timeout))
	case o.dryRun.on() && (owner || len(args) > 1):
		return usage(cmd, fault.New(fault.InvalidArgument, "--dry-run is for one workspace at a time"))
	case o.many.parallel < 1:
		return usage(cmd, fault.New(fault.InvalidArgument, "--parallel %d is less than 1", o.many.parallel))
	case owner && strings.TrimSpace(o.many.owner) == "":
		return usage(cmd, fault.New(fault.InvalidArgument, "--owner is empty"))
	case owner && len(args) > 0:
		return usage(cmd, fault.New(fault.InvalidArgument, "--owner is for all workspaces of a user, but %q is one", args[0]))
	case !owner && o.many.allNamespaces:
		return usage(cmd, fault.New(fault.InvalidArgument, "--all-namespaces is for --owner"))
	case !owner && len(args) == 0:
		return usage(cmd, fault.New(fault.InvalidArgument, "at least one workspace is needed, or --owner"))
	}
	return nil
}

// removal is one workspace that is to be removed.
type removal struct {
	arg                       string // as it was typed
	userString, id, namespace string
	target                    *inventory.Target
	err                       error // that kept it from being found
}

// understandAll reads the arguments, each workspace once, and tells all that is
// wrong with them.
func understandAll(args []string, namespace string) ([]removal, error) {
	var removals []removal
	var problems []string
	seen := map[string]bool{}
	for _, arg := range args {
		ids, ns, err := inventory.Understand(arg)
		if err != nil {
			problems = append(problems, fmt.Sprintf("%q: %s", arg, strings.Join(strings.Fields(fault.From(err).Message), " ")))
			continue
		}
		if ns == "" {
			ns = namespace
		}
		if seen[arg] {
			continue
		}
		seen[arg] = true
		removals = append(removals, removal{arg: arg, id: ids[0], namespace: ns})
	}
	return removals, badArguments(problems, len(args))
}

// badArguments is the one error about all arguments that make no sense.
func badArguments(problems []string, all int) error {
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.InvalidArgument, "%d of %d arguments name no workspace; nothing has been done", len(problems), all)
	err.Problems = problems
	return err.WithHint("see `berth help user-strings`")
}

// once leaves out those that are the same workspace by another name, and tells
// all arguments that are more than one.
func once(found []removal) (removals []removal, err error) {
	seen := map[[2]string]bool{}
	var problems []string
	for _, m := range found {
		if fault.CodeOf(m.err) == fault.InvalidArgument {
			problems = append(problems, fault.From(m.err).Message)
			continue
		}
		if m.target != nil {
			m.id, m.namespace = m.target.ID, m.target.Namespace
		}
		key := [2]string{m.namespace, m.id}
		if !seen[key] {
			seen[key] = true
			removals = append(removals, m)
		}
	}
	return removals, badArguments(problems, len(found))
}
