package queue

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// ErrUnknown is the error for a volume that there is no record of.
var ErrUnknown = errors.New("there is no record of the volume")

// Queue is the records of a node's volumes. A change is on the disk before it is known
// to readers; what is read comes from memory.
type Queue struct {
	db *bolt.DB

	mu      sync.Mutex
	entries map[string]*entry
	order   []*entry // those in their afterlife, the oldest first
	changed map[string]bool
	bytes   int64
}

type entry struct {
	Record
	failures int
	retry    time.Time // not before that
}

// The buckets of the database.
const (
	bucketVolumes    = "volumes"
	bucketUnreadable = "unreadable"
)

// lockTimeout is how long another process may have the database open, such as the driver
// that this one replaces.
const lockTimeout = 20 * time.Second

// Open reads the records in a file, which is created if it is absent. Records that cannot
// be read are put aside, and told one by one; a file that is none of a database is put aside as a whole.
func Open(file string, problem func(error)) (*Queue, error) {
	q := &Queue{entries: map[string]*entry{}, changed: map[string]bool{}}
	err := q.open(file, problem)
	if damaged(err) {
		aside := file + ".unreadable"
		problem(fmt.Errorf("%s is not a database (%w): it is kept as %s, and a new one is begun", file, err, aside))
		if err := os.Rename(file, aside); err != nil {
			return nil, err
		}
		err = q.open(file, problem)
	}
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fault.New(fault.Conflict, "another process has %s open", file).
			WithHint("end the other driver of this node, or choose another --directory")
	case err != nil:
		return nil, fault.New(fault.Unavailable, "cannot open %s: %w", file, err)
	}
	return q, nil
}

// damaged says whether the file itself is no database: what the system refuses is another matter.
func damaged(err error) bool {
	var refused syscall.Errno
	return err != nil && !errors.Is(err, bolterrors.ErrTimeout) && !errors.As(err, &refused)
}

// open opens the database and reads all records. The library panics on some damages.
func (q *Queue) open(file string, problem func(error)) (err error) {
	q.db, err = bolt.Open(file, 0o600, &bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType, OpenFile: reserved})
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		if err != nil {
			_ = q.db.Close()
		}
	}()
	return q.load(problem)
}

// load reads all records.
func (q *Queue) load(problem func(error)) error {
	unreadable := map[string][]byte{}
	return q.db.Update(func(tx *bolt.Tx) error {
		volumes, err := tx.CreateBucketIfNotExists([]byte(bucketVolumes))
		if err != nil {
			return err
		}
		err = volumes.ForEach(func(id, text []byte) error {
			record, err := decode(string(id), text)
			if err != nil {
				problem(fmt.Errorf("the record of volume %q cannot be read and is put aside: %w", id, err))
				unreadable[string(id)] = slices.Clone(text)
				return nil
			}
			q.set(record)
			return nil
		})
		if err != nil || len(unreadable) == 0 {
			return err
		}
		aside, err := tx.CreateBucketIfNotExists([]byte(bucketUnreadable))
		for id, text := range unreadable {
			err = errors.Join(err, aside.Put([]byte(id), text), volumes.Delete([]byte(id)))
		}
		return err
	})
}

// Close writes what was measured, and closes the database.
func (q *Queue) Close() error {
	return errors.Join(q.Flush(), q.db.Close())
}

// Use records that a pod uses a volume. One in its afterlife comes back from there.
func (q *Queue) Use(r Record) error {
	r.Deleted, r.Failure = time.Time{}, ""
	return q.write(r)
}

// Wait records that volumes are in their afterlife. Asked twice, the first time counts.
func (q *Queue) Wait(records ...Record) error {
	var fresh []Record
	for _, r := range records {
		if known, ok := q.Get(r.ID); ok && known.Waits() {
			continue
		}
		r.Deleted = r.Deleted.UTC().Round(0) // the clock of the wall alone: the process may be another one later
		r.Bytes, r.Inodes = -1, -1
		fresh = append(fresh, r)
	}
	return q.write(fresh...)
}

// write puts records on the disk, all of them or none, then into memory.
func (q *Queue) write(records ...Record) error {
	if len(records) == 0 {
		return nil
	}
	err := q.db.Update(func(tx *bolt.Tx) error {
		for _, r := range records {
			text, err := encode(r)
			if err == nil {
				err = tx.Bucket([]byte(bucketVolumes)).Put([]byte(r.ID), text)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot write the record of volume %s: %w", records[0].ID, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range records {
		q.set(r)
	}
	return nil
}

// Forget drops the record of a volume whose directory is gone.
func (q *Queue) Forget(id string) error {
	if err := q.db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucketVolumes)).Delete([]byte(id)) }); err != nil {
		return fmt.Errorf("cannot delete the record of volume %s: %w", id, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop(id)
	return nil
}

// Flush writes the sizes that were measured since the last time.
func (q *Queue) Flush() error {
	q.mu.Lock()
	measured := map[string]Record{}
	for id := range q.changed {
		measured[id] = q.entries[id].Record
	}
	clear(q.changed)
	q.mu.Unlock()
	if len(measured) == 0 {
		return nil
	}
	return q.db.Update(func(tx *bolt.Tx) (err error) {
		volumes := tx.Bucket([]byte(bucketVolumes))
		for id, r := range measured {
			// What has changed meanwhile, or is gone, stays as it is on the disk.
			now, unreadable := decode(id, volumes.Get([]byte(id)))
			if unreadable != nil || !now.Waits() {
				continue
			}
			now.Bytes, now.Inodes = r.Bytes, r.Inodes
			text, wrong := encode(now)
			err = errors.Join(err, wrong, volumes.Put([]byte(id), text))
		}
		return err
	})
}

// set takes a record into memory.
func (q *Queue) set(r Record) {
	q.drop(r.ID)
	e := &entry{Record: r}
	q.entries[r.ID] = e
	if r.Waits() {
		q.order = slices.Insert(q.order, place(q.order, e), e)
		q.bytes += max(r.Bytes, 0)
	}
}

// drop takes a record out of memory.
func (q *Queue) drop(id string) {
	e, ok := q.entries[id]
	if !ok {
		return
	}
	delete(q.entries, id)
	delete(q.changed, id)
	if e.Waits() {
		at := place(q.order, e)
		q.order = slices.Delete(q.order, at, at+1)
		q.bytes -= max(e.Bytes, 0)
	}
}

// Get is the record of a volume.
func (q *Queue) Get(id string) (Record, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.entries[id]
	if !ok {
		return Record{}, false
	}
	return e.Record, true
}

// Waiting are the volumes in their afterlife, the oldest first.
func (q *Queue) Waiting() []volume.Volume {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := make([]volume.Volume, len(q.order))
	for i, e := range q.order {
		all[i] = e.Volume
	}
	return all
}

// Used are the records of the volumes that pods use.
func (q *Queue) Used() []Record {
	q.mu.Lock()
	defer q.mu.Unlock()
	var all []Record
	for _, e := range q.entries {
		if !e.Waits() {
			all = append(all, e.Record)
		}
	}
	return all
}

// Figures are what is counted of the volumes.
type Figures struct {
	Used, Waiting int
	// Bytes are those of the volumes in their afterlife, as far as they are measured.
	Bytes int64
}

// Figures counts.
func (q *Queue) Figures() Figures {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Figures{Used: len(q.entries) - len(q.order), Waiting: len(q.order), Bytes: q.bytes}
}

// Measured notes what a volume in its afterlife takes. It is written with Flush: what is
// lost is measured again.
func (q *Queue) Measured(id string, bytes, inodes int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	e, ok := q.entries[id]
	if !ok || !e.Waits() {
		return
	}
	q.bytes += max(bytes, 0) - max(e.Bytes, 0)
	e.Bytes, e.Inodes = bytes, inodes
	q.changed[id] = true
}

// Unmeasured is a volume in its afterlife that is not measured and not left out.
func (q *Queue) Unmeasured(leftOut func(id string) bool) (volume.Volume, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.order {
		if e.Bytes < 0 && !leftOut(e.ID) {
			return e.Volume, true
		}
	}
	return volume.Volume{}, false
}
