//go:build linux

package driver

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/mounts"
	"github.com/berthdev/berth/internal/volume/queue"
)

// adoptedStay is how long a volume without a record stays at least. Where a reboot took the
// records, the kubelet publishes the volumes of its pods again, and a full disk is no reason to be first.
const adoptedStay = 10 * time.Minute

// adopt makes records and directories agree, at the start.
func (d *Driver) adopt(now time.Time) error {
	table, err := d.table()
	if err != nil {
		return err
	}
	found, err := d.dir.List()
	if err != nil { // one bad directory keeps no pod of the node from its volumes
		d.o.Log.Error("directories are left alone", slog.String("error", fault.Line(err.Error())))
	}
	var left []queue.Record
	var ids []string
	for _, f := range found {
		record, err := d.adoptDirectory(f.Pod, f.ID, table, now)
		if err != nil {
			return err
		}
		if record.Waits() {
			left, ids = append(left, record), append(ids, record.ID)
		}
	}
	if err := d.queue.Wait(left...); err != nil {
		return err
	}
	d.queue.Keep(now.Add(adoptedStay), ids...)
	if len(left) > 0 {
		d.o.Log.Warn("volumes without a record are queued", slog.Int("volumes", len(left)),
			slog.String("lifespan", d.o.Afterlife.String()))
	}
	d.abandonAll(table, now)
	d.toMeasure()
	return nil
}

// abandonAll queues the volumes that nobody will unpublish. One that somebody works on is left to the next time.
func (d *Driver) abandonAll(table mounts.Table, now time.Time) {
	for _, r := range d.queue.Used() {
		release, busy := d.locks.try(r.ID)
		if busy != nil {
			continue
		}
		if known, ok := d.queue.Get(r.ID); ok && !known.Waits() {
			if err := d.abandon(known, table, now); err != nil {
				d.o.Log.Error("it is not known whether a volume is in use", slog.String("volume", r.ID),
					slog.String("error", fault.Line(err.Error())))
			}
		}
		release()
	}
}

// adoptDirectory takes up a directory that nobody knows (a crash between making and
// recording, a restored disk): it is in use if it is mounted, else its record waits as of now.
func (d *Driver) adoptDirectory(pod, id string, table mounts.Table, now time.Time) (record queue.Record, err error) {
	known, is := d.queue.Get(id)
	if is && known.PodUID == pod {
		return record, nil
	}
	log := d.o.Log.With(slog.String("volume", id), slog.String("podUID", pod))
	if is {
		log.Warn("a second directory of a volume is left alone", slog.String("first", known.PodUID))
		return record, nil
	}
	record = d.unknown(pod, id)
	at, err := table.Of(d.path(pod, id))
	if err != nil {
		return record, err
	}
	if len(at) > 0 {
		log.Warn("a volume without a record is in use", slog.String("at", at[0]))
		record.Target, record.Published = at[0], now
		return record, d.queue.Use(record)
	}
	log.Debug("a volume without a record is queued")
	record.Deleted = now
	return record, nil
}

// abandon queues a volume that nobody will unpublish: it is not mounted, and the
// directory that the kubelet has made for it is gone.
func (d *Driver) abandon(r queue.Record, table mounts.Table, now time.Time) error {
	if _, err := os.Lstat(path.Dir(r.Target)); r.Target == "" || !errors.Is(err, fs.ErrNotExist) {
		return nil // it is there, as far as is known
	}
	at, err := table.Of(d.path(r.PodUID, r.ID))
	if err != nil || len(at) > 0 {
		return err
	}
	d.o.Log.Warn("a volume whose pod is gone is queued", slog.String("volume", r.ID), slog.String("podUID", r.PodUID))
	if there, err := d.dir.Has(r.PodUID, r.ID); err != nil || !there {
		return errors.Join(err, d.queue.Forget(r.ID))
	}
	return d.wait(r, now)
}

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

// madeUp is what the kubelet calls inline volumes: a hash of the pod and the volume.
func madeUp(id string) bool { return regexp.MustCompile(`^csi-[0-9a-f]{64}$`).MatchString(id) }

// checkDirectory refuses a working directory that is somebody else's: all that is in it would
// be taken for volumes whose records are lost, and removed after their afterlife. One is the
// driver's if it has the records, or nothing but what looks like volumes.
func checkDirectory(dir string) error {
	if isDatabase(filepath.Join(dir, fileQueue)) {
		return nil
	}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault.New(fault.Unavailable, "cannot read the working directory: %w", err)
	}
	for _, e := range entries {
		if e.Name()[0] == '.' || slices.Contains([]string{
			"lost+found", fileQueue, fileQueue + ".unreadable",
			volume.Socket, queue.Katbox, queue.Katbox + takenOver,
		}, e.Name()) {
			continue
		}
		volumes, err := os.ReadDir(filepath.Join(dir, e.Name()))
		for _, v := range volumes {
			if !madeUp(v.Name()) {
				err = errors.New("not a volume")
			}
		}
		if err != nil {
			return fault.New(fault.InvalidArgument, "%s is not a directory of scratch volumes: it has %s", dir,
				fault.Line(e.Name())).
				WithHint("choose an empty directory with --directory: what the driver finds there and does not know " +
					"is removed after its afterlife")
		}
	}
	return nil
}

// isDatabase says whether a file begins as those of bbolt do: a file of that name may be another program's.
func isDatabase(name string) bool {
	file, err := os.Open(name)
	if err != nil {
		return false
	}
	defer file.Close()
	const pageHeader, magic = 16, 0xED0CDAED
	var begin [pageHeader + 4]byte
	_, err = io.ReadFull(file, begin[:])
	return err == nil && binary.NativeEndian.Uint32(begin[pageHeader:]) == magic
}

// table is the mount table. Volumes are known in it by the path of the working directory,
// which has to lead there still: otherwise they would seem not to be mounted.
func (d *Driver) table() (mounts.Table, error) {
	table, err := mounts.Read()
	if err == nil {
		err = d.dir.Check()
	}
	return table, err
}
