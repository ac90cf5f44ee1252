//go:build linux

package driver

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// abandonInterval is how often is looked for volumes that nobody will unpublish.
const abandonInterval = 5 * time.Minute

// lookForAbandoned queues the volumes that nobody will unpublish.
func (d *Driver) lookForAbandoned() {
	table, err := d.table()
	if err != nil {
		d.o.Log.Error("volumes whose pods are gone are not looked for", slog.String("error", fault.Line(err.Error())))
		return
	}
	d.abandonAll(table, d.o.Now())
}

// completeRemovals removes what is left of the directories that were being removed when the
// driver ended. Their records are dropped, unless a pod has the volume again.
func (d *Driver) completeRemovals(ctx context.Context) {
	all, failure := d.dir.Going()
	for _, f := range all {
		if release, busy := d.locks.try(f.ID); busy == nil {
			failure = errors.Join(failure, d.completeRemoval(ctx, f.Pod, f.ID))
			release()
		}
	}
	if failure != nil && ctx.Err() == nil {
		d.o.Log.Error("a removal is not completed", slog.String("error", fault.Line(failure.Error())))
	}
}

func (d *Driver) completeRemoval(ctx context.Context, pod, id string) error {
	there, err := d.dir.Has(pod, id)
	if known, ok := d.queue.Get(id); err == nil && ok && known.Waits() && known.PodUID == pod && !there {
		return d.remove(ctx, known.Volume, "completed")
	}
	return errors.Join(err, d.dir.RemoveGoing(ctx, pod, id))
}
