package queue

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
)

// Katbox is the name of the file in which katbox, the driver that berth's takes after, has the volumes
// that wait, in its working directory.
const Katbox = "deletedVolumes.db"

// bucketKatbox is the bucket of that file which has them, by their IDs.
const bucketKatbox = "deletedVolumes"

// katboxRecord is what katbox has of a volume that waits. The path is that of its container; what counts are its
// last two elements, the pod's UID and the volume's ID.
type katboxRecord struct {
	Deleted  time.Time     `json:"deleteTime"`
	Lifespan time.Duration `json:"lifespan"` // in nanoseconds
	Path     string        `json:"path"`
}

// ReadKatbox reads the volumes that wait from a file of katbox, which stays as it is. Those that cannot be read are
// told one by one. A file that cannot be read as a whole is an error that says what to do.
func ReadKatbox(file string, problem func(error)) ([]Record, error) {
	return readKatbox(file, lockTimeout, problem)
}

// readKatbox waits for so long until no katbox has the file open.
func readKatbox(file string, patience time.Duration, problem func(error)) (records []Record, err error) {
	db, err := openKatbox(file, patience)
	if err != nil {
		return nil, katboxFault(file, err)
	}
	defer func() { _ = db.Close() }()
	defer func() {
		if p := recover(); p != nil { // the library panics on some damages
			records, err = nil, katboxFault(file, fmt.Errorf("%v", p))
		}
	}()
	err = db.View(func(tx *bolt.Tx) error {
		bucket := tx.Bucket([]byte(bucketKatbox))
		if bucket == nil {
			return fmt.Errorf("it has no bucket %s", bucketKatbox)
		}
		return bucket.ForEach(func(id, text []byte) error {
			r, err := decodeKatbox(string(id), text)
			if err != nil {
				problem(fmt.Errorf("what katbox has of volume %q cannot be read: %w", id, err))
				return nil
			}
			records = append(records, r)
			return nil
		})
	})
	if err != nil {
		return nil, katboxFault(file, err)
	}
	return records, nil
}

// openKatbox opens the file, to read and not to write.
func openKatbox(file string, patience time.Duration) (db *bolt.DB, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	return bolt.Open(file, 0o600, &bolt.Options{Timeout: patience, ReadOnly: true})
}

// katboxFault is the error of a file of katbox that is not taken over. Nothing was changed.
func katboxFault(file string, err error) error {
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fault.New(fault.Conflict, "katbox has %s open: it still runs on this node", file).
			WithHint("delete katbox's DaemonSet; its volumes are taken over as soon as its pod is gone")
	}
	return fault.New(fault.Unavailable, "cannot read katbox's records in %s: %w", file, err).
		WithHint("move that file out of the directory, and nothing else: the volumes that wait then do so for " +
			"the whole --afterlife, as of the next start")
}

// decodeKatbox reads what katbox has of a volume.
func decodeKatbox(id string, text []byte) (Record, error) {
	var k katboxRecord
	if err := json.Unmarshal(text, &k); err != nil {
		return Record{}, err
	}
	pod := path.Base(path.Dir(k.Path))
	switch {
	case k.Deleted.IsZero():
		return Record{}, errors.New("it has no time")
	case path.Base(k.Path) != id:
		return Record{}, fmt.Errorf("it has the path %q", k.Path)
	case !volume.IsID(id) || !volume.IsID(pod):
		return Record{}, fmt.Errorf("%q of pod %q is not the name of a directory", id, pod)
	}
	return Record{Volume: volume.Volume{
		ID: id, PodUID: pod, Deleted: k.Deleted, Lifespan: max(k.Lifespan, 0), Bytes: -1, Inodes: -1,
	}}, nil
}
