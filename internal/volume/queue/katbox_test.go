package queue

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/berthdev/berth/internal/fault"
)

// katbox writes a file as katbox does: a bbolt file with the buckets volumes and deletedVolumes, of which each entry is
// JSON under the ID of a volume. It stays open, as that of a katbox that runs.
func katbox(t *testing.T, buckets ...map[string]string) (file string, db *bolt.DB) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "deletedVolumes.db")
	db, err := bolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	err = db.Update(func(tx *bolt.Tx) error {
		for i, entries := range buckets {
			bucket, err := tx.CreateBucket([]byte([]string{"deletedVolumes", "volumes"}[i]))
			if err != nil {
				return err
			}
			for id, text := range entries {
				if err := bucket.Put([]byte(id), []byte(text)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return file, db
}

// What waits is read with its time and its lifespan, wherever katbox had its directory; what is not a volume that waits
// is told.
func TestReadKatbox(t *testing.T) {
	file, db := katbox(t, map[string]string{
		"csi-1": `{"deleteTime":"2026-03-01T10:20:30.123456789+01:00","lifespan":10800000000000,` +
			`"path":"/csi-data-dir/pod-1/csi-1"}`,
		"csi-2": `{"deleteTime":"2026-03-01T09:20:31Z","lifespan":-5,"path":"/var/lib/csi-katbox/pod-2/csi-2"}`,
		"csi-3": `{"deleteTime":"2026-03-01T09:20:31Z","lifespan":1,"path":"/csi-data-dir/csi-3"}`,
		"csi-4": `{"deleteTime":"0001-01-01T00:00:00Z","lifespan":1,"path":"/csi-data-dir/pod-4/csi-4"}`,
		"csi-5": `{"deleteTime":"2026-03-01T09:20:31Z","lifespan":1,"path":"/csi-data-dir/pod-5/csi-6"}`,
		"csi-6": `{"deleteTime":"yesterday","path":"/csi-data-dir/pod-6/csi-6"}`,
		"csi-7": `{"deleteTime":"2026-03-01T09:20:31Z","lifespan":1,"path":"/csi-7"}`,
		"..":    `{"deleteTime":"2026-03-01T09:20:31Z","lifespan":1,"path":"/csi-data-dir/pod-8/.."}`,
	}, map[string]string{
		"csi-9": `{"name":"ephemeral-csi-9","id":"csi-9","podUUID":"pod-9","size":1099511627776,` +
			`"path":"/csi-data-dir/pod-9/csi-9","accessType":0,"ephemeral":true}`,
	})
	_ = db.Close()
	var told []string
	records, err := ReadKatbox(file, func(err error) { told = append(told, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, strings.Join([]string{
			r.PodUID, r.ID, r.Deleted.UTC().Format(time.RFC3339Nano), r.Lifespan.String(),
		}, " "))
	}
	want := []string{
		"pod-1 csi-1 2026-03-01T09:20:30.123456789Z 3h0m0s",
		"pod-2 csi-2 2026-03-01T09:20:31Z 0s",
		"csi-data-dir csi-3 2026-03-01T09:20:31Z 1ns", // of a pod without a UID: there is no such directory
	}
	if !slices.Equal(got, want) {
		t.Errorf("read are %q", got)
	}
	for _, id := range []string{"csi-4", "csi-5", "csi-6", "csi-7", ".."} {
		if !slices.ContainsFunc(told, func(said string) bool { return strings.Contains(said, `"`+id+`"`) }) {
			t.Errorf("%s is not told: %q", id, told)
		}
	}
	if len(told) != 5 {
		t.Errorf("told is %q", told)
	}
}

// A file that cannot be read as a whole is refused with what to do, and stays as it is.
func TestKatboxRefused(t *testing.T) {
	none, db := katbox(t)
	_ = db.Close()
	damaged, db := katbox(t, map[string]string{"csi-1": "{}"})
	_ = db.Close()
	if err := os.WriteFile(damaged, []byte(strings.Repeat("nonsense", 4096)), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "deletedVolumes.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, file := range map[string]string{"no bucket": none, "no database": damaged, "an empty file": empty} {
		t.Run(name, func(t *testing.T) {
			before, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			records, err := ReadKatbox(file, func(err error) { t.Error(err) })
			if fault.CodeOf(err) != fault.Unavailable || len(records) > 0 ||
				!strings.Contains(fault.From(err).Hint, "move that file out of the directory") {
				t.Errorf("%v, %v", records, err)
			}
			if after, err := os.ReadFile(file); err != nil || !bytes.Equal(after, before) {
				t.Errorf("it has changed: %v", err)
			}
		})
	}
}

// A katbox that runs has its file open, and two drivers do not work in one directory.
func TestKatboxRuns(t *testing.T) {
	file, _ := katbox(t, map[string]string{})
	_, err := readKatbox(file, 10*time.Millisecond, func(err error) { t.Error(err) })
	if fault.CodeOf(err) != fault.Conflict || !strings.Contains(fault.From(err).Hint, "katbox's DaemonSet") {
		t.Errorf("%v", err)
	}
}
