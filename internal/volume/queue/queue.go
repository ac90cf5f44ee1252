package queue

import (
	"errors"
	"fmt"
	"sync"
	"time"

	bolt "go.etcd.io/bbolt"
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
