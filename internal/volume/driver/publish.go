//go:build linux

package driver

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/mounts"
	"github.com/berthdev/berth/internal/volume/queue"
)

// NodePublishVolume gives a pod its volume.
func (d *Driver) NodePublishVolume(ctx context.Context,
	r *csi.NodePublishVolumeRequest,
) (*csi.NodePublishVolumeResponse, error) {
	p, err := checkPublish(r)
	if err != nil {
		return nil, err
	}
	if strings.HasPrefix(p.target+"/", d.o.Directory+"/") {
		return nil, invalid("the target path %s is in the working directory of the driver", p.target)
	}
	release, err := d.locks.take(ctx, p.ID)
	if err != nil {
		return nil, busy(p.ID)
	}
	defer release()
	before, known := d.queue.Get(p.ID)
	if err := d.admit(p, before, known); err != nil {
		return nil, err
	}
	d.o.Step(PublishRecorded)
	if err := d.mount(p); err != nil {
		return nil, d.notMounted(p, before, known, err)
	}
	d.o.Step(PublishMounted)
	d.o.Log.Debug("published", slog.String("volume", p.ID), slog.String("pod", p.Pod),
		slog.Any("attributes", slices.Sorted(maps.Keys(r.GetVolumeContext()))))
	return &csi.NodePublishVolumeResponse{}, nil
}

// admit records that a pod uses a volume. Of several at once that are not all admitted, each is
// counted before the next one.
func (d *Driver) admit(p publication, before queue.Record, known bool) error {
	if d.o.MaxVolumes > 0 {
		d.admission.Lock()
		defer d.admission.Unlock()
	}
	if err := d.mayPublish(p, before, known); err != nil {
		return err
	}
	if known && !before.Waits() && before.Target == p.target {
		return nil
	}
	p.Published = d.o.Now().UTC().Round(0)
	p.Lifespan = queue.Lifespan(p.afterlife, d.o.Afterlife)
	if err := d.queue.Use(queue.Record{Volume: p.Volume, Target: p.target, Asked: p.afterlife}); err != nil {
		return internal(err)
	}
	return nil
}

// mayPublish finds what keeps a volume from being published.
func (d *Driver) mayPublish(p publication, before queue.Record, known bool) error {
	if known && before.PodUID != p.PodUID {
		return status.Errorf(codes.AlreadyExists, "volume %s is that of pod %s", p.ID, before.PodUID)
	}
	used := known && !before.Waits()
	if d.o.MaxVolumes > 0 && !used && int64(d.queue.Figures().Used) >= d.o.MaxVolumes {
		return status.Errorf(codes.ResourceExhausted,
			"pods of this node use %d scratch volumes, which is the limit (--max-volumes)", d.o.MaxVolumes)
	}
	return nil
}

// mount makes the directory of a volume and mounts it, as far as that is not done.
func (d *Driver) mount(p publication) error {
	if err := d.dir.Make(p.PodUID, p.ID); err != nil {
		return err
	}
	d.o.Step(PublishMade)
	if err := d.dir.Check(); err != nil {
		return err
	}
	dir := d.path(p.PodUID, p.ID)
	switch _, err := os.Lstat(p.target); {
	case errors.Is(err, fs.ErrNotExist):
		if err := mounts.MakeTarget(p.target); err != nil {
			return err
		}
	case err != nil:
		return err
	default:
		mounted, err := d.mounted(dir, p)
		if mounted || err != nil {
			return err
		}
	}
	return mounts.Bind(dir, p.target, p.readOnly)
}

// mounted says whether the volume is at its target already, as it is wanted.
func (d *Driver) mounted(dir string, p publication) (bool, error) {
	table, err := d.table()
	if err != nil {
		return false, err
	}
	at, is := table.At(p.target)
	switch {
	case !is:
		return false, mounts.MakeTarget(p.target)
	case !table.Is(dir, p.target):
		return false, errors.New("something else is mounted at " + p.target + ": " + at.Root + " of " + at.Source)
	case p.readOnly:
		return true, mounts.ReadOnly(p.target)
	case slices.Contains(strings.Split(at.Options, ","), "ro"):
		return false, status.Errorf(codes.AlreadyExists, "volume %s is published read-only at %s", p.ID, p.target)
	}
	return true, nil
}

// notMounted is the answer to a publication that failed. What was published before, or half of it, or is still mounted,
// stays as it is: the kubelet unpublishes it after an error that is not final. Everything else is taken back.
func (d *Driver) notMounted(p publication, before queue.Record, known bool, err error) error {
	if status.Code(err) == codes.AlreadyExists {
		return err
	}
	table, tableErr := d.table()
	if known && !before.Waits() || tableErr != nil || table.Is(d.path(p.PodUID, p.ID), p.target) {
		return status.Error(codes.Unavailable, err.Error())
	}
	return internal(errors.Join(err, d.undo(p, before, known)))
}

// undo takes back what a first publication that failed has left. The kubelet does not unpublish
// what was never published: what is in the directory is in its afterlife, as it was before.
func (d *Driver) undo(p publication, before queue.Record, known bool) error {
	gone, err := d.dir.RemoveEmpty(p.PodUID, p.ID)
	switch {
	case err != nil:
		return err
	case gone:
		return d.queue.Forget(p.ID)
	case known:
		return d.wait(before, before.Deleted)
	}
	return d.wait(queue.Record{Volume: p.Volume, Target: p.target, Asked: p.afterlife}, d.o.Now())
}

func busy(id string) error {
	return status.Errorf(codes.Aborted, "another request works on volume %s", id)
}

func internal(err error) error { return status.Error(codes.Internal, err.Error()) }

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

// enqueue puts a volume into the queue. One that was never recorded, or whose directory is gone, is fine.
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
	r.Lifespan = queue.Lifespan(r.Asked, d.o.Afterlife) // what the node grants now, not when it was published
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
