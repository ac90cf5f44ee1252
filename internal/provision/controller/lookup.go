package controller

import (
	"context"
	"log/slog"

	"golang.org/x/sync/errgroup"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/reconcile"
	"github.com/berthdev/berth/internal/userstring"
)

// readers is how many workspaces are looked up at once.
const readers = 8

// adopt records the workspaces that have no record: those that have pods, and in a full
// exchange, and the first, those that are installed without any. One that cannot be recorded is
// left to the next exchange.
func (c *Controller) adopt(ctx context.Context, k *known, full bool) {
	c.adoptEach(ctx, k, k.without(), c.adoptOne)
	if k.looked && !full {
		return
	}
	installed, err := c.deployed(ctx)
	if err != nil {
		c.Log.Warn("workspaces without a pod cannot be looked for", slog.String("error", message(err)))
		return
	}
	k.looked = true
	c.adoptEach(ctx, k, k.unknownOf(installed), func(ctx context.Context, w v1.Workspace) (lifecycle.Record, error) {
		return c.Provisioner.State(w.Namespace, w.ID, userstring.Workload{}).AdoptPodless(ctx)
	})
}

// deployed names the workspaces that are installed as a whole.
func (c *Controller) deployed(ctx context.Context) ([]v1.Workspace, error) {
	belongings, err := fleet.ReadRecords(ctx, c.Provisioner.Reader, c.Namespace)
	if err != nil {
		return nil, err
	}
	return belongings.Deployed(), nil
}

func (c *Controller) adoptEach(ctx context.Context, k *known, all []v1.Workspace,
	adopt func(context.Context, v1.Workspace) (lifecycle.Record, error),
) {
	var group errgroup.Group
	group.SetLimit(readers)
	for _, w := range all {
		group.Go(func() error {
			var r lifecycle.Record
			err := reconcile.Guard(c.Log, keyOf(w), func() (err error) {
				r, err = adopt(ctx, w)
				return err
			})
			switch {
			case fault.CodeOf(err) == fault.NotFound, deploy.IsLocked(err): // gone meanwhile, or not done yet
			case err != nil:
				c.Log.Warn("a workspace cannot be adopted", slog.String("workspace", keyOf(w)),
					slog.String("error", message(err)))
			default:
				c.Log.Info("adopted", slog.String("workspace", r.Key()), slog.String("desired", string(r.Desired)))
				k.setRecord(r.Key(), r)
			}
			return nil
		})
	}
	_ = group.Wait() // each has logged its own error
}

func (c *Controller) adoptOne(ctx context.Context, w v1.Workspace) (lifecycle.Record, error) {
	arg, err := inventory.ListedArgument(w)
	if err != nil {
		return lifecycle.Record{}, err
	}
	target, err := c.Provisioner.Find(ctx, arg)
	if err != nil {
		return lifecycle.Record{}, err
	}
	if found := target.Found; isEnding(found.Reading) || found.Pod == nil && !found.Workload.Injected() {
		return lifecycle.Record{}, fault.New(fault.NotFound, "it is being deleted")
	}
	return c.Provisioner.State(target.Namespace, target.ID, userstring.Workload{}).Adopt(ctx, target.Found)
}

// lookForRemains finds out what is left of the workspaces without pods.
func (c *Controller) lookForRemains(ctx context.Context, k *known, full bool) error {
	if full {
		k.forgetRemains()
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for _, r := range k.podless() {
		group.Go(func() error {
			var remains bool
			err := reconcile.Guard(c.Log, r.Key(), func() (err error) {
				remains, err = c.remains(groupCtx, r)
				return err
			})
			if fault.CodeOf(err) == fault.Unavailable || groupCtx.Err() != nil {
				return err
			}
			if err != nil { // the others do not wait for it
				c.Log.Warn("a workspace cannot be looked for", slog.String("workspace", r.Key()),
					slog.String("error", message(err)))
			}
			k.setRemains(r.Key(), remains || err != nil)
			return nil
		})
	}
	return group.Wait()
}

// remains is true for a workspace without pods that can be started, or of which something is
// to be deleted. A stopped one of a workload is started from its record.
func (c *Controller) remains(ctx context.Context, r lifecycle.Record) (bool, error) {
	if r.Desired != v1.DesiredTerminated && r.Values != "" {
		return true, nil
	}
	arg, err := argument(r)
	if err != nil {
		return false, nil //nolint:nilerr // nothing can have been made of what is no name
	}
	_, err = c.Provisioner.Find(ctx, arg)
	if fault.CodeOf(err) == fault.NotFound {
		return false, nil
	}
	return err == nil, err
}
