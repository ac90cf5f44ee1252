//go:build linux

package driver

import (
	"context"
	"log/slog"
	"path"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/mounts"
	"github.com/berthdev/berth/internal/volume/queue"
)

// NodeUnpublishVolume takes a volume from its pod: first it is unmounted, then it is in the
// queue, then the answer says so.
func (d *Driver) NodeUnpublishVolume(ctx context.Context,
	r *csi.NodeUnpublishVolumeRequest,
) (*csi.NodeUnpublishVolumeResponse, error) {
	id, target := r.GetVolumeId(), r.GetTargetPath()
	if err := checkIDs(id, target); err != nil {
		return nil, err
	}
	target = path.Clean(target)
	release, err := d.locks.take(ctx, id)
	if err != nil {
		return nil, busy(id)
	}
	defer release()
	if err := mounts.Unmount(target); err != nil {
		return nil, internal(err)
	}
	d.o.Step(UnpublishUnmounted)
	if err := d.enqueue(id, target); err != nil {
		return nil, internal(err)
	}
	d.o.Step(UnpublishQueued)
	if err := mounts.RemoveTarget(target); err != nil {
		d.o.Log.Warn("the target is left to the kubelet", slog.String("volume", id),
			slog.String("error", fault.Line(err.Error())))
	}
	d.o.Step(UnpublishAnswering)
	return &csi.NodeUnpublishVolumeResponse{}, nil
}

// enqueue puts a volume into the queue. One that was never recorded, or whose directory is
// gone, is fine.
func (d *Driver) enqueue(id, target string) error {
	record, known := d.queue.Get(id)
	if known && record.Waits() {
		return nil // asked twice: the first time counts
	}
	if !known {
		pod, found, err := d.find(id)
		if err != nil || !found {
			return err
		}
		record = d.unknown(pod, id)
	}
	if there, err := d.dir.Has(record.PodUID, id); err != nil {
		return err
	} else if !there {
		return d.queue.Forget(id)
	}
	record.Target = target
	return d.wait(record, d.o.Now())
}

// wait puts a volume into its afterlife as of then.
func (d *Driver) wait(r queue.Record, deleted time.Time) error {
	r.Deleted = deleted
	r.Lifespan = min(r.Lifespan, d.o.Afterlife) // the node may allow less now
	if err := d.queue.Wait(r); err != nil {
		return err
	}
	d.toMeasure()
	return nil
}

// find looks for the directory of a volume that there is no record of.
func (d *Driver) find(id string) (pod string, found bool, err error) {
	all, err := d.dir.List()
	for _, f := range all {
		if f.ID == id {
			return f.Pod, true, err
		}
	}
	return "", false, err
}

// unknown is the record of a directory that there was none of.
func (d *Driver) unknown(pod, id string) queue.Record {
	return queue.Record{Volume: volume.Volume{ID: id, PodUID: pod, Lifespan: d.o.Afterlife, Bytes: -1, Inodes: -1}}
}
