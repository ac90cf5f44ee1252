// Package chosen finds the workspaces that a command works on: those that its arguments
// name, or all of an owner.
package chosen

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
)

// Workspace is one of them.
type Workspace struct {
	Argument                  inventory.Argument
	Typed                     string // empty for one of an owner's
	UserString, ID, Namespace string
	Target                    *inventory.Target
	Err                       error // that kept it from being found
}

// Choice is what the command line says.
type Choice struct {
	Args          []string
	ByOwner       bool // all workspaces of Owner, instead of Args
	Owner         string
	AllNamespaces bool
	Parallel      int
}

// Many says whether the result is that of several, and not of one workspace.
func (c Choice) Many() bool { return c.ByOwner || len(c.Args) > 1 }

// Validate finds what is wrong with the command line.
func (c Choice) Validate() error {
	switch {
	case c.ByOwner && strings.TrimSpace(c.Owner) == "":
		return fault.New(fault.InvalidArgument, "--owner must not be empty")
	case c.ByOwner && len(c.Args) > 0:
		return fault.New(fault.InvalidArgument, "--owner and the workspace %q are mutually exclusive", c.Args[0])
	case !c.ByOwner && c.AllNamespaces:
		return fault.New(fault.InvalidArgument, "--all-namespaces requires --owner")
	case !c.ByOwner && len(c.Args) == 0:
		return fault.New(fault.InvalidArgument, "requires at least one workspace, or --owner")
	}
	return cmdutil.CheckParallel(c.Parallel)
}

// Parse reads the arguments, each once, and reports all that are wrong; done is what the
// command would have done to the others: "deleted".
func (c Choice) Parse(done string) ([]Workspace, error) {
	var all []Workspace
	var errs []error
	seen := map[string]bool{}
	for _, text := range c.Args {
		arg, err := inventory.ParseArgument(text)
		if err != nil {
			invalid := *fault.From(err)
			invalid.Message = fmt.Sprintf("%q: %s", text, invalid.Message)
			errs = append(errs, &invalid)
		} else if !seen[text] {
			seen[text] = true
			all = append(all, Workspace{Argument: arg, Typed: text, ID: arg.IDs()[0], Namespace: arg.Namespace})
		}
	}
	return all, invalid(errs, len(c.Args), done)
}

// invalid is the one error about all arguments that are wrong.
func invalid(errs []error, all int, done string) error {
	switch {
	case len(errs) == 0:
		return nil
	case all == 1:
		return errs[0]
	}
	err := fault.New(fault.InvalidArgument, "%d of %d arguments are invalid; nothing was %s", len(errs), all, done)
	for _, e := range errs {
		err.Problems = append(err.Problems, fault.From(e).Message)
	}
	return err.WithHint("see `berth help user-strings`")
}

// Find looks the workspaces up. Arguments that are ambiguous are reported together; one
// that is not found keeps its error.
func (c Choice) Find(ctx context.Context, namespace string, all []Workspace, done string, find func(context.Context, inventory.Argument) (*inventory.Target, error)) ([]Workspace, error) {
	cmdutil.ForEach(len(all), c.Parallel, func(i int) {
		w := &all[i]
		if w.Err == nil {
			w.Target, w.Err = find(ctx, w.Argument)
		}
		if w.Target != nil {
			w.ID, w.Namespace = w.Target.ID, w.Target.Namespace
		} else if w.Namespace == "" {
			w.Namespace = namespace
		}
	})
	return unique(all, done)
}

// unique leaves out those that are the same workspace by another name.
func unique(found []Workspace, done string) (all []Workspace, err error) {
	seen := map[[2]string]bool{}
	var errs []error
	for _, w := range found {
		key := [2]string{w.Namespace, w.ID}
		switch {
		case fault.CodeOf(w.Err) == fault.InvalidArgument:
			errs = append(errs, w.Err)
		case !seen[key]:
			seen[key] = true
			all = append(all, w)
		}
	}
	return all, invalid(errs, len(found), done)
}

// Owned lists the workspaces of the owner, those without pods as well.
func (c Choice) Owned(ctx context.Context, r inventory.Reader, place lifecycle.Place) (*v1.WorkspaceList, []Workspace, error) {
	query := fleet.Query{Namespace: r.Client.Namespace, Owners: []string{c.Owner}, Installed: true}
	where, everywhere := "in namespace "+query.Namespace, []string(nil)
	if c.AllNamespaces {
		query.Namespace, where, everywhere = metav1.NamespaceAll, "in any namespace", []string{"--all-namespaces"}
	}
	list, missing, err := recorded.List(ctx, r, place, lifecycle.Limits{}, query, fleet.List)
	switch {
	case err != nil:
		return nil, nil, cmdutil.Because(ctx, err)
	case len(missing) > 0:
		return nil, nil, cmdutil.Because(ctx, missing[0])
	case len(list.Items) == 0:
		return list, nil, fault.New(fault.NotFound, "no workspaces of %s found %s", c.Owner, where).
			WithHint("`%s` lists all workspaces", strings.Join(append([]string{"berth status"}, everywhere...), " "))
	}
	all := make([]Workspace, len(list.Items))
	for i, w := range list.Items {
		all[i] = Workspace{UserString: w.UserString, ID: w.ID, Namespace: w.Namespace}
		all[i].Argument, all[i].Err = inventory.ListedArgument(w)
	}
	return list, all, nil
}
