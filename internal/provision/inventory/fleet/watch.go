package fleet

import (
	"context"
	"sync"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Handler is called with workspaces as they change.
type Handler interface {
	// Changed gets, at first, all workspaces that match the query; after that each
	// that is new, has changed, is gone (and says so) or does not match any more.
	Changed([]v1.Workspace)
	// Interrupted says that the cluster cannot be reached for a while.
	Interrupted(error)
}

// Watch keeps a handler up to date about the workspaces that match a query, until
// ctx ends or the API server refuses to go on. Every change of a pod is read by
// itself, so that no stage is lost to a slow handler. It costs one watch of the
// pods and one of the events, whatever the number of workspaces, two more once a pod
// waits that mounts claims, and up to three more for each kind of workload that some are
// injected into.
func Watch(ctx context.Context, r inventory.Reader, q Query, to Handler) error {
	opts, err := q.options()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	c := newCache(r, q)
	var group sync.WaitGroup
	defer group.Wait()
	defer cancel(nil)
	c.start = func(in *input) {
		in.fail, in.interrupted = cancel, to.Interrupted
		group.Go(func() {
			err := follow.Reflect(ctx, in.source, in)
			if in.optional && fault.CodeOf(err) == fault.PermissionDenied {
				c.listed(in)
				return
			}
			cancel(err)
		})
	}
	c.startAll(c.sources(opts.LabelSelector))
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.synced:
	}
	to.Changed(c.open(r.Now()))
	for {
		alarm := time.NewTimer(c.patience(r.Now()))
		select {
		case <-ctx.Done():
			alarm.Stop()
			return context.Cause(ctx)
		case <-c.changed:
		case <-alarm.C:
		}
		alarm.Stop()
		if changed := c.take(r.Now()); len(changed) > 0 {
			to.Changed(changed)
		}
	}
}
