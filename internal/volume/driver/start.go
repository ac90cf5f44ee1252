//go:build linux

package driver

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"time"

	"github.com/berthdev/berth/internal/fault"
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

// abandonAll queues the volumes that nobody will unpublish. One that somebody works on is
// left to the next time.
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
