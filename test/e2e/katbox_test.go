//go:build e2e

package e2e

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	v1 "github.com/berthdev/berth/api/v1"
)

// The directory of a katbox is taken over: what waits there does so as of when its pod went, and a pod whose volume
// katbox has mounted goes on. Which driver has mounted something, nobody sees.
func TestScratchVolumesOfKatbox(t *testing.T) {
	s := newScratch(newWorld(t), "--like", "katbox", "--afterlifespan", "2h", "--prune-interval", "1s")
	uses := s.create(s.with(pod("uses", "echo uses >/data/file; sleep 3600"), nil))
	left := s.create(s.with(pod("left", "echo left >/data/file; sleep 3600"), nil))
	old := s.create(s.with(pod("old", "echo old >/data/file; sleep 3600"), nil))
	for _, name := range []string{"uses", "left", "old"} {
		s.running(name)
		s.eventually(name+" has written", func() bool { return s.in(name, "cat /data/file") == name })
	}
	s.delete("left", "old")
	waiting := func() []v1.Volume {
		return decode[v1.VolumeList](s.world,
			s.must(0, "volume", "list", "--driver-namespace", s.namespace, "-o", "json")).Items
	}
	s.eventually("both wait", func() bool { return len(waiting()) == 2 })
	s.kubectl("delete", "daemonset", "berth-volumes", "--cascade=foreground", "--timeout=60s")

	since := time.Now().Add(-30 * time.Minute).Truncate(time.Second)
	file := filepath.Join(t.TempDir(), "deletedVolumes.db")
	db, err := bolt.Open(file, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := s.node(left, "basename $PWD")
	err = db.Update(func(tx *bolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("deletedVolumes"))
		for _, entry := range []struct {
			id, pod string
			minutes int
		}{
			{id, string(left), 60},
			{s.node(old, "basename $PWD"), string(old), 10},
			{s.node(uses, "basename $PWD"), string(uses), 10}, // katbox queued before it unmounted
		} {
			if err == nil {
				err = bucket.Put([]byte(entry.id), fmt.Appendf(nil,
					`{"deleteTime":%q,"lifespan":%d,"path":"/csi-data-dir/%s/%s"}`, since.Format(time.RFC3339Nano),
					time.Duration(entry.minutes)*time.Minute, entry.pod, entry.id))
			}
		}
		return err
	})
	if err == nil {
		err = db.Close()
	}
	text, readErr := os.ReadFile(file)
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	encoded := base64.StdEncoding.EncodeToString(text)
	if said := s.in("look", "rm /node/queue.db && echo "+encoded+" | base64 -d >/node/deletedVolumes.db"); said != "" {
		t.Fatal(said)
	}
	s.kubectl("apply", "--server-side", "-f", s.file)
	s.ready()
	s.eventually("what katbox would have removed is gone",
		func() bool { return s.in("look", fmt.Sprintf("ls -d /node/%s 2>/dev/null || :", old)) == "" })
	if list := waiting(); len(list) != 1 || list[0].ID != id || !list[0].DeletedAt.Equal(since) ||
		list[0].LifespanSeconds != 3600 {
		t.Errorf("there wait %+v", list)
	}
	if got := s.node(left, "cat file") + s.in("uses", "cat /data/file"); got != "leftuses" {
		t.Errorf("the data is %q", got)
	}
	s.delete("uses")
	s.eventually("it waits", func() bool { return len(waiting()) == 2 })
	if got := s.node(uses, "cat file"); got != "uses" {
		t.Errorf("the data is %q", got)
	}
}
