package delete

import (
	"context"

	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal/result"
)

// done is what the command does, in errors.
const done = "deleted"

// find looks the workspaces up.
func (o *Options) find(
	ctx context.Context, p *provision.Provisioner, removals []batch.Workspace,
) ([]batch.Workspace, error) {
	find := p.FindToDelete
	if o.ByOwner { // a workspace that is gone meanwhile is not to take with it what was kept
		var err error
		if removals, err = o.ownedBy(ctx, p); err != nil {
			return nil, err
		}
		find = p.Find
	}
	return o.Find(ctx, p.Client.Namespace, removals, done, find)
}

// list is the command that lists what --owner would delete.
func (o *Options) list() string {
	words := []string{"berth", "status", "--owner", o.Owner}
	if o.AllNamespaces {
		words = append(words, "--all-namespaces")
	}
	return fault.Command(words...)
}

// ownedBy lists the workspaces of the owner, also where a question is asked about
// them.
func (o *Options) ownedBy(ctx context.Context, p *provision.Provisioner) ([]batch.Workspace, error) {
	if !o.Yes && !o.IO.CanAsk() {
		return nil, fault.New(
			fault.InvalidArgument, "--yes is required to delete all workspaces of %s without a terminal", o.Owner,
		).
			WithHint("pass --yes to delete them without confirmation; `%s` lists them", o.list())
	}
	list, removals, err := o.Owned(ctx, p.Reader, p.States)
	if o.IgnoreNotFound && fault.CodeOf(err) == fault.NotFound {
		return nil, nil
	}
	if err == nil && o.asks() {
		err = o.show(result.Workspaces{WorkspaceList: *list, Table: result.Table{Namespaces: o.AllNamespaces}})
	}
	return removals, err
}
