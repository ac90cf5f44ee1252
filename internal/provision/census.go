package provision

import (
	"context"

	"golang.org/x/sync/errgroup"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
)

// census is the workspaces that there are in a namespace, if that is limited.
type census struct {
	there []v1.Workspace
	err   error // that kept them from being counted
}

// counting is the step that counts the workspaces; none if nothing limits them.
func (s provisioning) counting(ctx context.Context, c *census) []event.Step {
	if s.Allowance == nil {
		return nil
	}
	return []event.Step{{Name: "count", Quiet: true, Do: func() (string, error) {
		c.there, c.err = s.workspaces(ctx)
		return "", nil // it counts for one that is not there yet only
	}}}
}

// workspaces are those of the namespace: with pods, and without by what there is of them, kept
// storage as well.
func (p *Provisioner) workspaces(ctx context.Context) ([]v1.Workspace, error) {
	var seen *v1.WorkspaceList
	var records []lifecycle.Record
	var belongings *fleet.Belongings
	query := fleet.Query{Namespace: p.Client.Namespace, Kept: true}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		seen, err = fleet.Names(groupCtx, p.Reader, query)
		return err
	})
	group.Go(func() (err error) {
		belongings, err = fleet.ReadBelongings(groupCtx, p.Reader, query.Namespace)
		return err
	})
	if p.keepsStates() {
		group.Go(func() error {
			all, _, err := p.states().List(groupCtx)
			for _, r := range all {
				if !r.Done() {
					records = append(records, r)
				}
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	others, err := belongings.Podless(ctx, recorded.KnownIn(seen.Items, records))
	if err != nil {
		return nil, err
	}
	return recorded.Complete(seen.Items, others, records, lifecycle.Limits{}, query), nil
}
