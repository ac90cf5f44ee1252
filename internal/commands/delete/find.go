package delete

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/terminal/result"
)

// removal is one workspace that is to be deleted.
type removal struct {
	arg                       inventory.Argument
	typed                     string // empty for one of an owner's
	userString, id, namespace string
	target                    *inventory.Target
	err                       error // that kept it from being found
}

// parse reads the arguments, each once, and reports all that are wrong.
func parse(args []string) ([]removal, error) {
	var removals []removal
	var errs []error
	seen := map[string]bool{}
	for _, text := range args {
		arg, err := inventory.ParseArgument(text)
		if err != nil {
			invalid := *fault.From(err)
			invalid.Message = fmt.Sprintf("%q: %s", text, strings.Join(strings.Fields(invalid.Message), " "))
			errs = append(errs, &invalid)
		} else if !seen[text] {
			seen[text] = true
			removals = append(removals, removal{arg: arg, typed: text, id: arg.IDs()[0], namespace: arg.Namespace})
		}
	}
	return removals, invalidArguments(errs, len(args))
}

// invalidArguments is the one error about all arguments that are wrong.
func invalidArguments(errs []error, all int) error {
	switch {
	case len(errs) == 0:
		return nil
	case all == 1:
		return errs[0]
	}
	err := fault.New(fault.InvalidArgument, "%d of %d arguments are invalid; nothing was deleted", len(errs), all)
	for _, e := range errs {
		err.Problems = append(err.Problems, fault.From(e).Message)
	}
	return err.WithHint("see `berth help user-strings`")
}

// find looks the workspaces up. Arguments that are ambiguous are reported
// together; one that is not found keeps its error.
func (o *Options) find(ctx context.Context, p *provision.Provisioner, removals []removal) ([]removal, error) {
	if o.ByOwner {
		var err error
		if removals, err = o.ownedBy(ctx, p); err != nil {
			return nil, err
		}
	}
	cmdutil.ForEach(len(removals), o.Parallel, func(i int) {
		m := &removals[i]
		if m.err == nil {
			find := p.FindToDelete
			if o.ByOwner { // a workspace that is gone by now is not to take with it what was kept
				find = p.Find
			}
			m.target, m.err = find(ctx, m.arg)
		}
		if m.target != nil {
			m.id, m.namespace = m.target.ID, m.target.Namespace
		} else if m.namespace == "" {
			m.namespace = p.Client.Namespace
		}
	})
	return unique(removals)
}

// unique leaves out those that are the same workspace by another name.
func unique(found []removal) (removals []removal, err error) {
	seen := map[[2]string]bool{}
	var errs []error
	for _, m := range found {
		key := [2]string{m.namespace, m.id}
		switch {
		case fault.CodeOf(m.err) == fault.InvalidArgument:
			errs = append(errs, m.err)
		case !seen[key]:
			seen[key] = true
			removals = append(removals, m)
		}
	}
	return removals, invalidArguments(errs, len(found))
}

// ownedBy lists the workspaces of the owner, also to who is asked whether to delete
// them.
func (o *Options) ownedBy(ctx context.Context, p *provision.Provisioner) ([]removal, error) {
	if !o.Yes && !o.IO.CanAsk() {
		return nil, fault.New(fault.InvalidArgument, "--yes is required to delete all workspaces of %s without a terminal", o.Owner).
			WithHint("pass --yes to delete them without confirmation; `berth status --owner %s` lists them", o.Owner)
	}
	query := fleet.Query{Namespace: p.Client.Namespace, Owners: []string{o.Owner}}
	where := "in namespace " + query.Namespace
	if o.AllNamespaces {
		query.Namespace, where = metav1.NamespaceAll, "in any namespace"
	}
	list, err := fleet.List(ctx, p.Reader, query)
	switch {
	case err != nil:
		return nil, cmdutil.Because(ctx, err)
	case len(list.Items) == 0 && o.IgnoreNotFound:
		return nil, nil
	case len(list.Items) == 0:
		return nil, fault.New(fault.NotFound, "no workspaces of %s found %s", o.Owner, where).
			WithHint("`berth status` lists all workspaces; pass --ignore-not-found to ignore this")
	}
	if o.asks() {
		all := result.Workspaces{WorkspaceList: *list, Table: result.Table{Namespaces: o.AllNamespaces}}
		if err := o.show(all); err != nil {
			return nil, err
		}
	}
	removals := make([]removal, len(list.Items))
	for i, w := range list.Items {
		removals[i] = removal{userString: w.UserString, id: w.ID, namespace: w.Namespace}
		removals[i].arg, removals[i].err = inventory.ListedArgument(w)
	}
	return removals, nil
}
