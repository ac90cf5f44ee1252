//go:build linux

package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/queue"
	"github.com/berthdev/berth/internal/volume/tree"
)

// Prune removes what is due, once.
func (d *Driver) Prune(ctx context.Context) {
	now := d.o.Now()
	err := d.queue.Run(ctx, queue.Round{
		Now: now, Headroom: d.o.Headroom, Most: d.o.MaxQueued, Disk: d.dir.Disk,
		Remove: func(ctx context.Context, v volume.Volume) error {
			reason := "pressure"
			if queue.Due(v.Deleted, v.Lifespan, 1, now) {
				reason = "expired"
			}
			return d.evict(ctx, v, reason)
		},
		Crowded: func(ctx context.Context, v volume.Volume) error { return d.evict(ctx, v, "crowded") },
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

// evict removes a volume that is to go, unless somebody works with it.
func (d *Driver) evict(ctx context.Context, v volume.Volume, reason string) error {
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
	return d.remove(ctx, v, reason)
}

// remove removes the directory of a volume, then its record. What is still mounted is not touched.
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
	d.reads.end(v)
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
	d.reads.forget(v)
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.large, v.ID)
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

// Picture lists what is in its afterlife.
func (d *Driver) Picture(context.Context) (volume.Picture, error) {
	disk, err := d.dir.Disk()
	if err != nil {
		return volume.Picture{}, fault.New(fault.Unavailable, "%w", err)
	}
	return volume.Picture{
		Node: d.o.Node, Now: d.o.Now(), Factor: disk.Factor(d.o.Headroom), Free: disk.Free, Total: disk.Total,
		Headroom: d.o.Headroom,
		Volumes:  d.queue.Waiting(), Used: d.queue.Figures().Used,
	}, nil
}

// Archive writes a volume in its afterlife as a tar stream. It is not removed meanwhile.
func (d *Driver) Archive(ctx context.Context, id string, to io.Writer) error {
	release, err := d.locks.take(ctx, id)
	if err != nil {
		return err
	}
	record, err := d.waiting(id)
	if err != nil {
		release()
		return err
	}
	letGo := d.hold(id)
	defer letGo()
	release()
	if there, err := d.dir.Has(record.PodUID, id); err == nil && !there {
		return fault.New(fault.Conflict, "volume %s is being removed", id)
	}
	if err := d.dir.Archive(ctx, record.PodUID, id, to); err != nil {
		return fmt.Errorf("volume %s cannot be read: %w", id, err)
	}
	return nil
}

// Purge removes a volume in its afterlife now.
func (d *Driver) Purge(ctx context.Context, id string) error {
	release, err := d.locks.take(ctx, id)
	if err != nil {
		return err
	}
	defer release()
	record, err := d.waiting(id)
	if err != nil {
		return err
	}
	if d.held(id) {
		return fault.New(fault.Conflict, "volume %s is being read", id).WithHint("try again when that has ended")
	}
	if err := d.remove(ctx, record.Volume, "purge"); err != nil {
		return fault.New(fault.Failed, "volume %s cannot be removed: %w", id, err)
	}
	return nil
}

// waiting is the record of a volume in its afterlife.
func (d *Driver) waiting(id string) (queue.Record, error) {
	record, known := d.queue.Get(id)
	switch {
	case !known:
		return record, fault.New(fault.NotFound, "volume %s not found on node %s", fault.Line(id), d.o.Node)
	case !record.Waits():
		return record, fault.New(fault.Conflict, "volume %s is in use by pod %s/%s", id, record.Namespace, record.Pod).
			WithHint("it is in its afterlife once the pod is deleted")
	}
	return record, nil
}

// hold keeps a volume from being removed until it is let go.
func (d *Driver) hold(id string) (letGo func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.holds[id]++
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.holds[id]--
		if d.holds[id] == 0 {
			delete(d.holds, id)
		}
	}
}

// held says whether somebody reads a volume.
func (d *Driver) held(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.holds[id] > 0
}

// mostMeasured is how many files a volume may have to be measured.
const mostMeasured = 1_000_000

// toMeasure tells that there is something to measure.
func (d *Driver) toMeasure() {
	select {
	case d.measure <- struct{}{}:
	default:
	}
}

// measureAll measures volumes in their afterlife, one after the other, until ctx ends.
func (d *Driver) measureAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.measure:
		}
		for ctx.Err() == nil {
			v, ok := d.queue.Unmeasured(d.isLarge)
			if !ok {
				break
			}
			d.measureOne(ctx, v)
		}
	}
}

// measureOne measures a volume. What cannot be measured stays unknown.
func (d *Driver) measureOne(ctx context.Context, v volume.Volume) {
	size, err := d.dir.Measure(ctx, v.PodUID, v.ID, mostMeasured)
	if err == nil {
		d.queue.Measured(v.ID, size.Bytes, size.Inodes)
		return
	}
	if _, err := d.waiting(v.ID); err != nil || ctx.Err() != nil {
		return // it was removed, or is in use again
	}
	d.mu.Lock()
	d.large[v.ID] = true
	d.mu.Unlock()
	if !errors.Is(err, tree.ErrLarge) {
		d.o.Log.Warn("a volume cannot be measured", slog.String("volume", v.ID),
			slog.String("error", fault.Line(err.Error())))
	}
}

// isLarge says whether a volume was not measured to its end.
func (d *Driver) isLarge(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.large[id]
}
