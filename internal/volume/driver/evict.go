//go:build linux

package driver

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/queue"
)

// Prune removes what is due, once.
func (d *Driver) Prune(ctx context.Context) {
	now := d.o.Now()
	err := d.queue.Run(ctx, queue.Round{
		Now: now, Headroom: d.o.Headroom, Disk: d.dir.Disk,
		Remove: func(ctx context.Context, v volume.Volume) error { return d.evict(ctx, v, now) },
		Failed: func(v volume.Volume, again time.Time, err error) {
			d.o.Log.Error("a volume cannot be removed",
				about(v, slog.Time("again", again), slog.String("error", fault.Line(err.Error())))...)
		},
	})
	if err == nil {
		err = d.queue.Flush()
	}
	if err != nil && ctx.Err() == nil {
		d.o.Log.Error("a round over the queue", slog.String("error", fault.Line(err.Error())))
	}
}

// evict removes a volume that is due, unless somebody works with it.
func (d *Driver) evict(ctx context.Context, v volume.Volume, now time.Time) error {
	release, busy := d.locks.try(v.ID)
	if busy != nil {
		return queue.ErrHeld
	}
	defer release()
	if known, ok := d.queue.Get(v.ID); !ok || !known.Waits() {
		return nil // a pod uses it again, or it was purged
	}
	if d.held(v.ID) {
		return queue.ErrHeld
	}
	reason := "pressure"
	if queue.Due(v.Deleted, v.Lifespan, 1, now) {
		reason = "expired"
	}
	return d.remove(ctx, v, reason)
}

// remove removes the directory of a volume, then its record. What is still mounted is not
// touched.
func (d *Driver) remove(ctx context.Context, v volume.Volume, reason string) error {
	table, err := d.table()
	if err != nil {
		return err
	}
	at, err := table.Of(d.path(v.PodUID, v.ID))
	if err != nil {
		return err
	}
	if len(at) > 0 {
		return fmt.Errorf("it is still mounted at %s", strings.Join(at, ", "))
	}
	d.o.Step(EvictBegun)
	if err := d.dir.Remove(ctx, v.PodUID, v.ID); err != nil {
		return err
	}
	d.o.Step(EvictRemoved)
	// Before the record goes: a line that is there twice is better than none.
	d.o.Log.Info("audit", about(v, slog.String("action", "remove"), slog.String("reason", reason))...)
	if err := d.queue.Forget(v.ID); err != nil {
		return err
	}
	d.o.Step(EvictForgotten)
	d.removed.Add(1)
	d.forgetLarge(v.ID)
	return nil
}

// about is what the log says of a volume.
func about(v volume.Volume, more ...any) []any {
	return append([]any{
		slog.String("volume", v.ID), slog.String("namespace", v.Namespace), slog.String("pod", v.Pod),
		slog.String("podUID", v.PodUID),
		slog.String("workspace", fault.Line(v.Workspace)), slog.Time("deleted", v.Deleted),
		slog.String("lifespan", v.Lifespan.String()), slog.Int64("bytes", v.Bytes),
	}, more...)
}
