package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// Record is what is kept of a volume.
type Record struct {
	volume.Volume
	// Target is where the kubelet has it.
	Target string
	// Asked is the afterlife that its pod asked for; nil for nothing. What the node grants is put to it when
	// the pod is gone: Lifespan is what both come to.
	Asked *time.Duration
}

// Waits says whether it is in its afterlife.
func (r Record) Waits() bool { return !r.Deleted.IsZero() }

// stored is a record on disk. Fields may be added, never changed.
type stored struct {
	ID         string    `json:"id"`
	PodUID     string    `json:"podUID"`
	Namespace  string    `json:"namespace,omitempty"`
	Pod        string    `json:"pod,omitempty"`
	Workspace  string    `json:"workspace,omitempty"`
	UserString string    `json:"userString,omitempty"`
	Storage    string    `json:"storage,omitempty"`
	Target     string    `json:"target,omitempty"`
	Published  time.Time `json:"published,omitzero"`
	Deleted    time.Time `json:"deleted,omitzero"`
	Lifespan   string    `json:"lifespan"`
	// Asked is absent in records of before it was kept, and empty where the pod asked for nothing.
	Asked  *string `json:"asked,omitempty"`
	Bytes  int64   `json:"bytes"`
	Inodes int64   `json:"inodes"`
}

func encode(r Record) ([]byte, error) {
	asked := ""
	if r.Asked != nil {
		asked = r.Asked.String()
	}
	return json.Marshal(stored{
		ID: r.ID, PodUID: r.PodUID, Namespace: r.Namespace, Pod: r.Pod, Workspace: r.Workspace,
		UserString: r.UserString, Storage: r.Storage, Target: r.Target, Published: r.Published,
		Deleted: r.Deleted, Lifespan: r.Lifespan.String(), Bytes: r.Bytes, Inodes: r.Inodes,
		Asked: &asked,
	})
}

// decode reads what was stored under an ID. What names another directory than one of a volume is not a record.
func decode(id string, text []byte) (Record, error) {
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return Record{}, err
	}
	lifespan, err := time.ParseDuration(s.Lifespan)
	asked, askedErr := s.asked(lifespan)
	switch err = errors.Join(err, askedErr); {
	case err != nil:
		return Record{}, err
	case lifespan < 0:
		return Record{}, fmt.Errorf("lifespan %s is negative", lifespan)
	case s.ID != id:
		return Record{}, fmt.Errorf("it is of volume %q", s.ID)
	case !volume.IsID(s.ID) || !volume.IsID(s.PodUID):
		return Record{}, fmt.Errorf("%q of pod %q is not the name of a directory", s.ID, s.PodUID)
	}
	return Record{Volume: volume.Volume{
		ID: s.ID, PodUID: s.PodUID, Namespace: s.Namespace, Pod: s.Pod, Workspace: s.Workspace,
		UserString: s.UserString, Storage: s.Storage, Published: s.Published, Deleted: s.Deleted,
		Lifespan: lifespan, Bytes: s.Bytes, Inodes: s.Inodes,
	}, Target: s.Target, Asked: asked}, nil
}

// asked is what the pod asked for. A record of before it was kept has what that and the node's came to: the pod asked
// for no less, and is not given more.
func (s stored) asked(lifespan time.Duration) (*time.Duration, error) {
	if s.Asked == nil {
		return &lifespan, nil
	}
	if *s.Asked == "" {
		return nil, nil //nolint:nilnil // nothing was asked for
	}
	asked, err := time.ParseDuration(*s.Asked)
	if err == nil && asked < 0 {
		err = fmt.Errorf("afterlife %s is negative", asked)
	}
	return &asked, err
}

// lockTimeout is how long another process may have the database open, such as the driver that this one replaces.
const lockTimeout = 20 * time.Second

// Open reads the records in a file, which is created if it is absent. Records that cannot
// be read are put aside, and told one by one; a file that is not a database is put aside as a whole.
func Open(file string, problem func(error)) (*Queue, error) {
	q := &Queue{entries: map[string]*entry{}, changed: map[string]bool{}}
	err := q.open(file, problem)
	if damaged(err) {
		aside := file + ".unreadable"
		problem(fmt.Errorf("%s is not a database (%w): it is kept as %s, and a new one is begun", file, err, aside))
		if err := os.Rename(file, aside); err != nil {
			return nil, err
		}
		// What was read until the damage is unknown in the new one.
		q.entries, q.order, q.bytes = map[string]*entry{}, nil, 0
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
