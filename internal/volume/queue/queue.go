// Package queue keeps durably which scratch volumes a node has, those that pods use and
// those in their afterlife, and decides which of the latter go.
package queue

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/berthdev/berth/internal/volume"
)

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
	if err := q.db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(bucketVolumes)).
			Delete([]byte(id))
	}); err != nil {
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

// Keep keeps volumes in their afterlife until then, whatever the disk has.
func (q *Queue) Keep(until time.Time, ids ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, id := range ids {
		if e, ok := q.entries[id]; ok {
			e.retry = until
		}
	}
}

// Measured notes what a volume in its afterlife takes. It is written with Flush: what is lost is measured again.
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
