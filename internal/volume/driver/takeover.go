//go:build linux

package driver

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume/queue"
)

// takenOver ends the name that katbox's records have when its volumes are the driver's.
const takenOver = ".taken-over"

// readKatbox reads the records of katbox, if the directory was katbox's. It comes before anything is written, so that
// a directory that is refused stays as it is.
func readKatbox(o Options) (records []queue.Record, found bool, err error) {
	file := filepath.Join(o.Directory, queue.Katbox)
	if _, err := os.Lstat(file); errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	records, err = queue.ReadKatbox(file, func(err error) {
		o.Log.Warn("a volume of katbox waits as of now", slog.String("error", fault.Line(err.Error())))
	})
	return records, err == nil, err
}

// takeUp takes up what is in the directory: what katbox has left, if the directory was katbox's, and what nobody knows.
func (d *Driver) takeUp(katbox []queue.Record, was bool) error {
	if was {
		if err := d.takeOver(katbox); err != nil {
			return err
		}
	}
	return d.adopt(d.o.Now())
}

// takeOver queues what waits in katbox's records, as of when its pod went and for as long as katbox has promised. What
// is mounted is in use whatever they say: katbox queued a volume before it unmounted it. The file gets another name
// when that is on the disk; killed before, the driver does it again.
func (d *Driver) takeOver(records []queue.Record) error {
	table, err := d.table()
	if err != nil {
		return err
	}
	var waiting []queue.Record
	for _, r := range records {
		there, err := d.dir.Has(r.PodUID, r.ID)
		if err != nil { // adopt leaves it alone, too
			d.o.Log.Error("a volume of katbox is left alone", slog.String("volume", r.ID),
				slog.String("error", fault.Line(err.Error())))
			continue
		}
		at, err := table.Of(d.path(r.PodUID, r.ID))
		if err != nil {
			return err
		}
		if _, known := d.queue.Get(r.ID); there && !known && len(at) == 0 {
			waiting = append(waiting, r)
		}
	}
	if err := d.queue.Wait(waiting...); err != nil {
		return err
	}
	file := filepath.Join(d.o.Directory, queue.Katbox)
	if err := os.Rename(file, file+takenOver); err != nil {
		return fault.New(fault.Unavailable, "katbox's records: %w", err)
	}
	d.o.Log.Info("volumes of katbox are taken over", slog.Int("waiting", len(waiting)),
		slog.String("records", file+takenOver))
	return syncDirectory(d.o.Directory)
}

// syncDirectory puts the names in a directory on the disk.
func syncDirectory(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := unix.Fsync(int(file.Fd())); err != nil {
		return &fs.PathError{Op: "fsync", Path: dir, Err: err}
	}
	return nil
}
