package queue

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/berthdev/berth/internal/fault"
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
		q.entries, q.order, q.bytes = map[string]*entry{}, nil, 0 // what was read until the damage is unknown in the new one
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
	q.db, err = bolt.Open(file, 0o600,
		&bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType, OpenFile: reserved})
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
