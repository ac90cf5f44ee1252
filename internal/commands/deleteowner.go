package commands

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// ofOwner finds all workspaces of an owner, and asks whether they are meant.
func (o *deleteOptions) ofOwner(ctx context.Context, a *app, p *provision.Provisioner) ([]removal, error) {
	if !o.many.yes && !a.streams.CanAsk() {
		return nil, fault.New(fault.InvalidArgument, "whether to delete all workspaces of %s cannot be asked without a terminal", o.many.owner).
			WithHint("pass --yes if that is meant; `berth status --owner %s` lists them", o.many.owner)
	}
	query := inventory.Query{Namespace: p.Client.Namespace, Owners: []string{o.many.owner}}
	where := "in namespace " + query.Namespace
	if o.many.allNamespaces {
		query.Namespace, where = metav1.NamespaceAll, "in any namespace"
	}
	list, err := p.List(ctx, query)
	switch {
	case err != nil:
		return nil, because(ctx, err)
	case len(list.Items) == 0 && o.ignoreNotFound:
		return nil, nil
	case len(list.Items) == 0:
		return nil, fault.New(fault.NotFound, "there is no workspace of %s %s", o.many.owner, where).
			WithHint("`berth status` lists what there is; --ignore-not-found succeeds")
	}
	if err := o.confirm(ctx, a, list); err != nil {
		return nil, err
	}
	removals := make([]removal, len(list.Items))
	sideBySide(len(list.Items), o.many.parallel, func(i int) {
		w := list.Items[i]
		removals[i] = removal{userString: w.UserString, id: w.ID, namespace: w.Namespace}
		removals[i].target, removals[i].err = p.FindListed(ctx, w)
	})
	return removals, nil
}

// confirm shows what would go, and asks.
func (o *deleteOptions) confirm(ctx context.Context, a *app, list *v1.WorkspaceList) error {
	if o.many.yes {
		return nil
	}
	onErr := a.streams
	onErr.Out = a.streams.Err // a question is no result
	if err := printer.PrintList(onErr, printer.Format{}, list, printer.List{Namespaces: o.many.allNamespaces}); err != nil {
		return err
	}
	what := "1 workspace"
	if n := len(list.Items); n > 1 {
		what = fmt.Sprintf("%d workspaces", n)
	}
	yes, err := terminal.Confirm(ctx, a.streams, fmt.Sprintf("Delete %s of %s?", what, o.many.owner))
	if err == nil && !yes {
		err = fault.New(fault.Interrupted, "not confirmed: nothing has been deleted")
	}
	return err
}
