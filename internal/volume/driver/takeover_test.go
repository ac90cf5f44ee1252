//go:build linux

package driver

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/berthdev/berth/internal/fault"
)

// ofKubelet is an ID as the kubelet makes them.
func ofKubelet(c string) string { return "csi-" + strings.Repeat(c, 64) }

// newKatbox is a node on which katbox ran: pods use volumes, or have left them, and katbox's file has those that wait,
// since that many minutes and for an hour. katbox's directory had another path in its container.
func newKatbox(t *testing.T, waiting map[string]int, used, unknown []string) *node {
	t.Helper()
	n := newNode(t)
	for _, id := range used {
		n.publish(id) // the kernel does not know which driver has mounted it
		n.write(filepath.Join(n.target(id), "file"), "of "+id)
	}
	for id := range waiting {
		if _, mounted := n.mountedAt(n.target(id)); !mounted {
			n.gone(id)
		}
	}
	for _, id := range unknown {
		n.gone(id)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"queue.db", "admin.sock"} {
		if err := os.Remove(filepath.Join(n.root, "work", name)); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	db, err := bolt.Open(filepath.Join(n.root, "work", "deletedVolumes.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		bucket, err := tx.CreateBucket([]byte("deletedVolumes"))
		for id, minutes := range waiting {
			text := fmt.Sprintf(`{"deleteTime":%q,"lifespan":3600000000000,"path":"/csi-data-dir/pod-%s/%s"}`,
				n.clock.Now().Add(-time.Duration(minutes)*time.Minute).Format(time.RFC3339Nano), id, id)
			if err == nil {
				err = bucket.Put([]byte(id), []byte(text))
			}
		}
		return err
	})
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// A directory of katbox is taken over: what waits keeps its time and its lifespan, what is mounted is in use even if
// katbox had queued it before it failed to unmount, and what katbox knows nothing of waits as of now. The records of
// katbox are kept under another name.
func TestTakeOver(t *testing.T) {
	old, young, used, queued, unknown := ofKubelet("a"), ofKubelet("b"), ofKubelet("c"), ofKubelet("d"), ofKubelet("e")
	gone := ofKubelet("f")
	n := newKatbox(t, map[string]int{old: 50, young: 10, queued: 70, gone: 50}, []string{used, queued},
		[]string{unknown})
	if err := os.RemoveAll(filepath.Dir(n.data(gone))); err != nil {
		t.Fatal(err)
	}
	n.start()
	n.wantWaiting(strings.Join([]string{old, young, unknown}, " "))
	for _, v := range n.queue.Waiting() {
		since, want := n.clock.Now().Sub(v.Deleted), map[string]time.Duration{
			old: 50 * time.Minute, young: 10 * time.Minute,
		}[v.ID]
		if since != want || v.Lifespan != time.Hour {
			t.Errorf("%s waits since %s, for %s", v.ID, since, v.Lifespan)
		}
	}
	if n.there(n.root+"/work/deletedVolumes.db") || !n.there(n.root+"/work/deletedVolumes.db.taken-over") {
		t.Error("the records of katbox have the old name, or are gone")
	}
	n.prune()
	n.clock.add(11 * time.Minute)
	n.prune()
	n.wantWaiting(young + " " + unknown)
	for _, id := range []string{used, queued} {
		if text, err := os.ReadFile(filepath.Join(n.target(id), "file")); err != nil || string(text) != "of "+id {
			t.Errorf("a pod reads %q: %v", text, err)
		}
		n.unpublish(id)
	}
	n.wantWaiting(strings.Join([]string{young, unknown, used, queued}, " "))
	n.again()
	n.wantWaiting(strings.Join([]string{young, unknown, used, queued}, " "))
}

// A driver that is killed between taking the volumes over and saying so does it again, and what a pod has meanwhile is
// not changed by that.
func TestTakeOverAgain(t *testing.T) {
	old, young := ofKubelet("a"), ofKubelet("b")
	n := newKatbox(t, map[string]int{old: 50, young: 10}, nil, nil)
	n.start()
	n.publish(young)
	n.clock.add(time.Minute)
	n.unpublish(young)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(n.root+"/work/deletedVolumes.db.taken-over", n.root+"/work/deletedVolumes.db"); err != nil {
		t.Fatal(err)
	}
	n.start()
	n.wantWaiting(old + " " + young)
	if v := n.queue.Waiting()[1]; !v.Deleted.Equal(n.clock.Now()) {
		t.Errorf("it waits since %s", v.Deleted)
	}
}

// What cannot be read of katbox is refused before anything is changed, and the directory is as it was.
func TestTakeOverRefused(t *testing.T) {
	old := ofKubelet("a")
	n := newKatbox(t, map[string]int{old: 500}, nil, nil)
	file := filepath.Join(n.root, "work", "deletedVolumes.db")
	if err := os.WriteFile(file, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := New(Options{
		Name: "katbox.csi.paypal.com", Node: "n", Directory: filepath.Join(n.root, "work"), Afterlife: time.Hour,
		PruneInterval: time.Second, Now: n.clock.Now, Log: slog.New(slog.NewTextHandler(n.log, nil)),
	})
	if fault.CodeOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "deletedVolumes.db") ||
		!strings.Contains(fault.From(err).Hint, "move that file out") {
		t.Errorf("%v", err)
	}
	if n.there(n.root+"/work/queue.db") || !n.there(n.data(old)+"/file") {
		t.Error("something was changed")
	}
	if err := os.Remove(file); err != nil { // what the error says is to be done
		t.Fatal(err)
	}
	n.start()
	if v := n.one(); v.ID != old || !v.Deleted.Equal(n.clock.Now()) {
		t.Errorf("queued is %+v", v)
	}
}

// More volumes than may wait are removed, the oldest first, and the log says why.
func TestMaxQueued(t *testing.T) {
	n := newNode(t, func(o *Options) { o.MaxQueued = 2 })
	for _, id := range []string{"a", "b", "c"} {
		n.gone(id)
		n.clock.add(time.Second)
	}
	n.prune()
	n.wantWaiting("b c")
	if n.there(n.data("a")) || !n.there(n.data("b")) {
		t.Error("it is not the oldest one that is gone")
	}
	if said := n.log.String(); strings.Count(said, "action=remove") != 1 || !strings.Contains(said, "reason=crowded") {
		t.Errorf("it says %s", said)
	}
}
