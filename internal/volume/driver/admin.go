//go:build linux

package driver

import (
	"context"
	"fmt"
	"io"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/queue"
)

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
