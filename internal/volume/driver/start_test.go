//go:build linux

package driver

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume/mounts"
)

// The queue: at the start, directories that nobody knows are queued as of then; those that
// are mounted are in use; what is not one of a volume is left alone.
func TestStartWithUnknown(t *testing.T) {
	n := newNode(t)
	left, used := "csi-"+strings.Repeat("0a", 32), "csi-"+strings.Repeat("1b", 32)
	n.publish(used)
	n.gone(left)
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(n.root + "/work/queue.db"); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"lost+found/x", ".hidden/x", "pod-empty"} {
		if err := os.MkdirAll(n.root+"/work/"+dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	n.clock.add(time.Minute)
	n.start()
	if v := n.one(); v.ID != left || v.PodUID != "pod-"+left || !v.Deleted.Equal(n.clock.Now()) ||
		v.Lifespan != time.Hour {
		t.Errorf("queued is %+v", v)
	}
	if r, ok := n.queue.Get(used); !ok || r.Waits() || r.Target != n.target(used) {
		t.Errorf("what is mounted is %+v", r)
	}
	if n.there(n.root+"/work/pod-empty") || !n.there(n.root+"/work/lost+found/x") ||
		!n.there(n.root+"/work/.hidden/x") {
		t.Error("an empty directory of a pod is left, or something else is gone")
	}
	n.unpublish(used)
	n.wantWaiting(left + " " + used)
}

// Records that are lost in a reboot leave the kubelet time to publish the volumes of its
// pods again, on a full disk too.
func TestStartAfterRebootWithoutRecords(t *testing.T) {
	onDisks(t, 40, 1000, 0.1, func(t *testing.T, n *node) {
		id := "csi-" + strings.Repeat("0a", 32)
		n.publish(id)
		fill(t, n.target(id)+"/file")
		if err := errors.Join(n.Close(), mounts.Unmount(n.target(id)), os.Remove(n.root+"/work/queue.db")); err != nil {
			t.Fatal(err)
		}
		n.start(headroom(0.1))
		n.clock.add(9 * time.Minute)
		n.prune()
		n.wantWaiting(id)
		n.publish(id)
		if !n.there(n.target(id) + "/file") {
			t.Error("the data is gone")
		}
		n.unpublish(id)
		n.clock.add(16 * time.Minute)
		n.prune()
		n.wantWaiting("")
	})
}

// What is mounted over the working directory hides where volumes are mounted: nothing is
// removed, nothing is published, until the driver has its directory again.
func TestDirectoryIsCovered(t *testing.T) {
	n := newNode(t)
	n.gone("waits")
	n.publish("used")
	work := n.root + "/work"
	if err := unix.Mount("none", work, "tmpfs", 0, ""); err != nil {
		t.Fatal(err)
	}
	n.clock.add(2 * time.Hour)
	n.prune()
	n.wantWaiting("waits")
	if err := n.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), work) {
		t.Errorf("ready: %v", err)
	}
	if err := os.MkdirAll(filepath.Dir(n.target("new")), 0o750); err != nil {
		t.Fatal(err)
	}
	_, err := n.NodePublishVolume(t.Context(), n.request("new"))
	n.wantCode(err, codes.Unavailable, work)
	if err := mounts.Unmount(work); err != nil {
		t.Fatal(err)
	}
	if err := n.Ready(t.Context()); err != nil {
		t.Error(err)
	}
	n.clock.add(time.Hour)
	n.prune()
	n.wantWaiting("")
}

// A directory of somebody else is refused, and left as it is.
func TestStartElsewhere(t *testing.T) {
	volume := "csi-" + strings.Repeat("0", 64)
	for name, c := range map[string]struct {
		has     string
		refused bool
	}{
		"nothing":                           {"", false},
		"what belongs to the file system":   {"lost+found/#123", false},
		"what is hidden":                    {".snapshots/x", false},
		"volumes":                           {"pod/" + volume + "/file", false},
		"homes":                             {"alice/.ssh/id", true},
		"homes with something":              {"alice/documents/letter", true},
		"something beside a volume":         {"pod/" + volume + "x/file", true},
		"records that are damaged":          {"queue.db", false},
		"a socket of before":                {"admin.sock", false},
		"another file":                      {"file", true},
		"records that could not be read":    {"queue.db.unreadable", false},
		"a directory with another in it":    {"lib/dpkg/status/x", true},
		"a directory of a pod, and no more": {"pod/", false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir() + "/work"
			if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, c.has)+"x"), 0o755); err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(c.has, "/") {
				if err := os.MkdirAll(filepath.Join(dir, c.has), 0o755); err != nil {
					t.Fatal(err)
				}
			} else if c.has != "" {
				if err := os.WriteFile(filepath.Join(dir, c.has), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			d, err := New(Options{Directory: dir, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
			if err == nil {
				_ = d.Close()
			}
			if (fault.CodeOf(err) == fault.InvalidArgument) != c.refused {
				t.Errorf("it says %v", err)
			}
			if info, err := os.Stat(dir); c.refused && (err != nil || info.Mode().Perm() != 0o755) {
				t.Errorf("it was changed: %v, %v", info.Mode(), err)
			}
		})
	}
}

// A file named as the records is no licence: it may be another program's.
func TestStartAtForeignRecords(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.WriteFile(dir+"/queue.db", []byte("SQLite format 3\x00 and more of that"), 0o600),
		os.MkdirAll(dir+"/alice/documents", 0o755)); err != nil {
		t.Fatal(err)
	}
	_, err := New(Options{Directory: dir, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	if fault.CodeOf(err) != fault.InvalidArgument || !strings.Contains(err.Error(), "alice") {
		t.Errorf("it says %v", err)
	}
	if text, err := os.ReadFile(dir + "/queue.db"); err != nil || !strings.HasPrefix(string(text), "SQLite") {
		t.Errorf("the file has become %q, %v", text, err)
	}
}

// After a reboot nothing is mounted. What the kubelet still has to unpublish stays in use,
// or is published again; what it has forgotten is in its afterlife.
func TestStartAfterReboot(t *testing.T) {
	n := newNode(t)
	for _, id := range []string{"unpublished", "again", "forgotten"} {
		n.publish(id)
		n.write(n.target(id)+"/file", "x")
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	unmountBelow(t, n.root)
	if err := os.RemoveAll(filepath.Dir(n.target("forgotten"))); err != nil {
		t.Fatal(err)
	}
	n.start()
	n.wantWaiting("forgotten")
	n.publish("again")
	n.unpublish("unpublished")
	n.clock.add(2 * time.Hour)
	n.prune()
	n.wantWaiting("")
	if !n.there(n.target("again")+"/file") || n.there(n.data("forgotten")) || n.there(n.data("unpublished")) {
		t.Error("the wrong directory was removed")
	}
}

// onDisks runs a test on small disks of several kinds.

// What a driver has left of a directory that it was removing goes at the start of the next
// one; a volume that a pod has by then stays.
func TestLeftovers(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	n.write(n.target("v")+"/file", "of now")
	for _, left := range []string{"pod-v/.going-v", "pod-x/.going-x"} {
		if err := os.MkdirAll(n.root+"/work/"+left+"/dir", 0o700); err != nil {
			t.Fatal(err)
		}
	}
	n.again()
	n.completeRemovals(t.Context())
	if left, _ := filepath.Glob(n.root + "/work/*/.going-*"); len(left) > 0 || n.there(n.root+"/work/pod-x") {
		t.Errorf("left are %q", left)
	}
	if !n.there(n.data("v") + "/file") {
		t.Error("a volume that is in use was removed")
	}
	n.wantWaiting("")
}

// A volume that nobody will unpublish, as the kubelet has forgotten it, is queued while the
// driver runs.
func TestAbandoned(t *testing.T) {
	n := newNode(t)
	n.publish("forgotten")
	n.publish("used")
	unmountBelow(t, n.target("forgotten"))
	if err := os.RemoveAll(filepath.Dir(n.target("forgotten"))); err != nil {
		t.Fatal(err)
	}
	n.lookForAbandoned()
	n.wantWaiting("forgotten")
}

// Each of several who list at once sees all.
func TestListAtOnce(t *testing.T) {
	n := newNode(t)
	for _, id := range []string{"a", "b", "c"} {
		n.gone(id)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if found, err := n.dir.List(); len(found) != 3 || err != nil {
					t.Errorf("there are %v, %v", found, err)
				}
			}
		})
	}
	all.Wait()
}

// What the node grants when the pod is gone counts, not what it granted when the volume was published.
func TestAfterlifeChanged(t *testing.T) {
	for _, c := range []struct {
		asked         string
		granted, want time.Duration
	}{
		{"", time.Minute, time.Minute},
		{"", 5 * time.Hour, 5 * time.Hour},
		{"30m", 5 * time.Hour, 30 * time.Minute},
		{"30m", time.Minute, time.Minute},
		{"3h", 5 * time.Hour, 3 * time.Hour},
		{"9h", 5 * time.Hour, 5 * time.Hour},
		{"0s", 5 * time.Hour, 0},
	} {
		n := newNode(t)
		n.publish("v", "afterlife", c.asked)
		n.again(func(o *Options) { o.Afterlife = c.granted })
		n.unpublish("v")
		if v := n.one(); v.Lifespan != c.want {
			t.Errorf("asked for %q, granted %s: it stays for %s", c.asked, c.granted, v.Lifespan)
		}
	}
}
