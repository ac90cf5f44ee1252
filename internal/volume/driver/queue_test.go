//go:build linux

package driver

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/queue"
	"github.com/berthdev/berth/internal/waittest"
)

// The queue: survives restarts; time that the driver was down counts. What is removed is audited.
func TestPruneAfterDowntime(t *testing.T) {
	n := newNode(t)
	n.gone("old")
	n.clock.add(59 * time.Minute)
	n.gone("new")
	n.again()
	n.clock.add(time.Minute)
	n.prune()
	n.wantWaiting("old new") // strictly later
	n.clock.add(1)
	n.prune()
	n.wantWaiting("new")
	if n.there(n.data("old")) || n.there(filepath.Dir(n.data("old"))) || !n.there(n.data("new")) {
		t.Error("the wrong directory was removed")
	}
	if said := n.log.String(); !strings.Contains(said, "msg=audit") || !strings.Contains(said, "volume=old") || !strings.Contains(said, "reason=expired") || strings.Contains(said, "volume=new") {
		t.Errorf("the log says %s", said)
	}
}

// The queue: a directory that is still mounted is never removed, wherever it is mounted; it is said, and
// tried again.
func TestPruneMounted(t *testing.T) {
	for name, where := range map[string]string{"itself": "", "a directory in it": "sub"} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			n.publish("v")
			if err := os.Mkdir(n.target("v")+"/sub", 0o700); err != nil {
				t.Fatal(err)
			}
			n.write(n.target("v")+"/sub/file", "x")
			n.unpublish("v")
			at := n.root + "/elsewhere with a space"
			if err := errors.Join(os.Mkdir(at, 0o700), unix.Mount(filepath.Join(n.data("v"), where), at, "", unix.MS_BIND, "")); err != nil {
				t.Fatal(err)
			}
			n.clock.add(2 * time.Hour)
			n.prune()
			if !n.there(n.data("v") + "/sub/file") {
				t.Fatal("it was touched")
			}
			if v := n.one(); !strings.Contains(v.Failure, "it is still mounted at "+at) {
				t.Errorf("it says %q", v.Failure)
			}
			if said := n.log.String(); !strings.Contains(said, "cannot be removed") {
				t.Errorf("the log says %s", said)
			}
			if err := n.Purge(t.Context(), "v"); fault.CodeOf(err) != fault.Failed {
				t.Errorf("purging it: %v", err)
			}
			if err := unix.Unmount(at, 0); err != nil {
				t.Fatal(err)
			}
			n.prune()
			n.wantWaiting("v") // not before the back-off is over
			n.clock.add(5 * time.Second)
			n.prune()
			n.wantWaiting("")
		})
	}
}

// The queue: removing does not cross mounts. What is mounted in a volume is left, and so is the volume.
func TestPruneMountInside(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	other := n.root + "/other"
	for _, dir := range []string{other, n.data("v") + "/a/b"} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	n.write(other+"/precious", "x")
	n.unpublish("v")
	if err := unix.Mount(other, n.data("v")+"/a/b", "", unix.MS_BIND, ""); err != nil {
		t.Fatal(err)
	}
	n.clock.add(2 * time.Hour)
	n.prune()
	// And without the look at the mount table, which could be a moment old:
	err := n.dir.Remove(t.Context(), "pod-v", "v")
	if err == nil || !strings.Contains(err.Error(), "something is mounted there") {
		t.Errorf("removing says %v", err)
	}
	if !n.there(other + "/precious") {
		t.Error("what is mounted in the volume was removed")
	}
}

// The queue: removing does not follow symbolic links out of the directory.
func TestPruneLinks(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	other := n.root + "/other"
	if err := os.MkdirAll(other+"/dir", 0o700); err != nil {
		t.Fatal(err)
	}
	n.write(other+"/precious", "x")
	for link, to := range map[string]string{"dir": other, "file": other + "/precious", "up": "../../..", "itself": "itself", "nowhere": "nowhere"} {
		if err := os.Symlink(to, n.target("v")+"/"+link); err != nil {
			t.Fatal(err)
		}
	}
	n.unpublish("v")
	n.clock.add(2 * time.Hour)
	n.prune()
	n.wantWaiting("")
	if n.there(n.data("v")) || !n.there(other+"/precious") || !n.there(other+"/dir") || !n.there(n.root+"/work/queue.db") {
		t.Error("a link was followed, or is left")
	}
	// A directory of a pod, or of a volume, that is a link is not gone into, either.
	n.gone("w")
	n.gone("x")
	if err := errors.Join(os.RemoveAll(n.data("w")), os.Symlink("../../other", n.data("w")), os.RemoveAll(n.root+"/work/pod-x"), os.Symlink("../other", n.root+"/work/pod-x"), os.Mkdir(other+"/x", 0o700)); err != nil {
		t.Fatal(err)
	}
	n.write(other+"/x/precious", "x")
	n.clock.add(2 * time.Hour)
	n.prune()
	n.wantWaiting("w x")
	if !n.there(other + "/x/precious") {
		t.Error("a link in place of the directory of a pod was followed")
	}
	if !n.there(other + "/precious") {
		t.Error("a link in place of a volume was followed")
	}
}

// Whatever a pod can make is removed: directories deeper than can be open, many files, names of any bytes,
// what nobody may read.
func TestPruneAnything(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	dir, err := os.OpenRoot(n.target("v"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"\xff\xfe", "new\nline", "-rf", strings.Repeat("n", 255)} {
		if err := dir.WriteFile(name, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2000 {
		if err := dir.WriteFile(fmt.Sprint(i), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(dir.Mkdir("closed", 0), dir.Mkdir(".deep-1", 0o700), unix.Mkfifo(n.target("v")+"/pipe", 0)); err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		if err := dir.Mkdir("d", 0o700); err != nil {
			t.Fatal(err)
		}
		below, err := dir.OpenRoot("d")
		if err != nil {
			t.Fatal(err)
		}
		dir.Close()
		dir = below
	}
	dir.Close()
	n.unpublish("v")
	n.clock.add(2 * time.Hour)
	files(t, 200) // fewer than there are directories in one another
	n.prune()
	n.wantWaiting("")
	if n.there(n.data("v")) {
		t.Errorf("something is left: %s", n.log.String())
	}
}

// files limits how many files the test has open.
func files(t *testing.T, most uint64) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: most, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before) })
}

// A volume that a pod uses again after it was found due is not touched, and nobody waits for one that
// is being worked on.
func TestPruneInUseAgain(t *testing.T) {
	n := newNode(t)
	n.gone("v")
	found, later := n.one(), n.clock.Now().Add(2*time.Hour)
	release, err := n.locks.take(t.Context(), "v")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.evict(t.Context(), found, later); !errors.Is(err, queue.ErrHeld) {
		t.Errorf("while it is worked on: %v", err)
	}
	release()
	n.publish("v")
	if err := n.evict(t.Context(), found, later); err != nil || !n.there(n.target("v")+"/file") {
		t.Errorf("while it is in use: %v", err)
	}
	unmountBelow(t, n.root) // even if nobody sees that it is
	if err := n.evict(t.Context(), found, later); err != nil || !n.there(n.data("v")+"/file") {
		t.Errorf("while it is in use: %v", err)
	}
	if f := n.queue.Figures(); f.Used != 1 {
		t.Errorf("counted are %+v", f)
	}
}

// The queue: what cannot be removed keeps nothing else from being removed.
func TestPruneImmutable(t *testing.T) {
	n := newNode(t)
	n.gone("a")
	n.gone("b")
	file, err := os.Open(n.data("a") + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, 0x10); err != nil {
		t.Skip("the file system has no immutable files:", err)
	}
	defer func() { _ = unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, 0) }()
	n.clock.add(2 * time.Hour)
	n.prune()
	n.wantWaiting("a")
	if v := n.one(); !strings.Contains(v.Failure, `cannot remove "file": operation not permitted`) {
		t.Errorf("it says %q", v.Failure)
	}
}

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
	if v := n.one(); v.ID != left || v.PodUID != "pod-"+left || !v.Deleted.Equal(n.clock.Now()) || v.Lifespan != time.Hour {
		t.Errorf("queued is %+v", v)
	}
	if r, ok := n.queue.Get(used); !ok || r.Waits() || r.Target != n.target(used) {
		t.Errorf("what is mounted is %+v", r)
	}
	if n.there(n.root+"/work/pod-empty") || !n.there(n.root+"/work/lost+found/x") || !n.there(n.root+"/work/.hidden/x") {
		t.Error("an empty directory of a pod is left, or something else is gone")
	}
	n.unpublish(used)
	n.wantWaiting(left + " " + used)
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
		"records":                           {"queue.db", false},
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
func onDisks(t *testing.T, megabytes, inodes int, part float64, test func(t *testing.T, n *node)) {
	t.Helper()
	for name, mount := range map[string]func(t *testing.T, at string){
		"tmpfs": func(t *testing.T, at string) {
			t.Helper()
			if err := unix.Mount("none", at, "tmpfs", 0, fmt.Sprintf("size=%dm,nr_inodes=%d", megabytes, inodes)); err != nil {
				t.Fatal(err)
			}
		},
		"ext4 on a loop device": func(t *testing.T, at string) {
			t.Helper()
			image := filepath.Join(t.TempDir(), "disk")
			for _, command := range []string{
				fmt.Sprintf("truncate -s %dM %s", megabytes, image), fmt.Sprintf("mkfs.ext4 -q -N %d %s", inodes, image), fmt.Sprintf("mount -o loop %s %s", image, at),
			} {
				argv := strings.Fields(command)
				if out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput(); err != nil {
					t.Skipf("no loop device: %s: %v: %s", command, err, out)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			if err := n.Close(); err != nil {
				t.Fatal(err)
			}
			mount(t, n.root+"/work")
			n.start(headroom(part))
			test(t, n)
		})
	}
}

func headroom(part float64) func(*Options) { return func(o *Options) { o.Headroom = part } }

// Under pressure the oldest go first, and no more than is needed.
func TestPressure(t *testing.T) {
	onDisks(t, 80, 1000, 0.5, func(t *testing.T, n *node) {
		for _, id := range []string{"a", "b", "c", "d"} {
			n.publish(id)
			n.write(n.target(id)+"/file", strings.Repeat("x", 10<<20))
			n.unpublish(id)
			n.clock.add(10 * time.Minute)
		}
		// About 40 MiB are to be free, and 24 are at most: a and b are due, of which a makes
		// enough room.
		n.prune()
		if got := n.waitingIDs(); got != "b c d" {
			t.Errorf("in the queue are %q, factor %v", got, n.Status().Factor)
		}
		if said := n.log.String(); !strings.Contains(said, "reason=pressure") {
			t.Errorf("the log says %s", said)
		}
	})
}

// On a full disk volumes are still unpublished, queued and removed; what cannot be made is an
// error that leaves nothing.
func TestFullDisk(t *testing.T) {
	onDisks(t, 40, 1000, 0.1, func(t *testing.T, n *node) {
		n.publish("a")
		n.publish("b")
		fill(t, n.target("a")+"/file")
		n.unpublish("a")
		n.clock.add(time.Minute)
		n.unpublish("b")
		n.wantWaiting("a b")
		if factor := n.Status().Factor; factor != 0 {
			t.Errorf("the factor is %v", factor)
		}
		n.clock.add(1)
		n.prune()
		n.wantWaiting("b")
		n.publish("c")
	})
}

// fill writes until nothing fits any more.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	zeros := make([]byte, 4096)
	for err == nil {
		_, err = file.Write(zeros)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
}

// A disk without inodes is under pressure, too; publishing fails meanwhile and leaves nothing.
func TestFullInodes(t *testing.T) {
	onDisks(t, 64, 128, 0.1, func(t *testing.T, n *node) {
		n.publish("a")
		for i := 0; ; i++ {
			if err := os.WriteFile(fmt.Sprintf("%s/%d", n.target("a"), i), nil, 0o600); errors.Is(err, unix.ENOSPC) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := n.NodePublishVolume(t.Context(), n.request("b")); err == nil || !strings.Contains(err.Error(), "no space") {
			t.Errorf("publishing says %v", err)
		}
		if f := n.queue.Figures(); f.Used != 1 || f.Waiting != 0 {
			t.Errorf("records are left: %+v", f)
		}
		n.unpublish("a")
		n.clock.add(1)
		n.prune()
		n.wantWaiting("")
		n.publish("b")
	})
}

// What waits is measured, beside the work, and shown.
func TestMeasure(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	n.write(n.target("v")+"/file", strings.Repeat("x", 1<<20))
	if err := os.Link(n.target("v")+"/file", n.target("v")+"/again"); err != nil {
		t.Fatal(err)
	}
	n.unpublish("v")
	if v := n.one(); v.Bytes != -1 {
		t.Errorf("it takes %d bytes before it is measured", v.Bytes)
	}
	var running sync.WaitGroup
	ctx, stop := testContext(t)
	running.Go(func() { n.Driver.Run(ctx) })
	defer running.Wait()
	defer stop()
	waittest.Until(t, "it is measured", func() bool { return n.one().Bytes >= 1<<20 })
	v := n.one()
	if v.Bytes > 1<<20+64<<10 || v.Inodes != 2 {
		t.Errorf("it takes %d bytes and %d inodes", v.Bytes, v.Inodes)
	}
	if s := n.Status(); s.Bytes != v.Bytes || s.Waiting != 1 || s.Factor != 1 {
		t.Errorf("counted is %+v", s)
	}
}

// What is being read is not removed meanwhile, neither by a round nor by a purge.
func TestArchiveHolds(t *testing.T) {
	n := newNode(t)
	n.gone("v")
	n.clock.add(2 * time.Hour)
	held, ended := make(chan struct{}), make(chan error, 1)
	read, write := io.Pipe()
	go func() {
		err := n.Archive(t.Context(), "v", write)
		write.CloseWithError(err)
		ended <- err
	}()
	first := make([]byte, 1)
	go func() {
		_, _ = io.ReadFull(read, first)
		close(held)
	}()
	<-held
	n.prune()
	n.wantWaiting("v")
	if err := n.Purge(t.Context(), "v"); fault.CodeOf(err) != fault.Conflict {
		t.Errorf("purging says %v", err)
	}
	rest, err := io.ReadAll(read)
	if err != nil || <-ended != nil || !bytes.Contains(rest, []byte("of v")) {
		t.Errorf("the archive has %d bytes, %v", len(rest), err)
	}
	n.prune()
	n.wantWaiting("")
}

func TestNode(t *testing.T) {
	n := newNode(t)
	n.publish("used")
	n.gone("v")
	var picture volume.Picture
	picture, err := n.Picture(t.Context())
	if err != nil || picture.Node != "node-1" || picture.Used != 1 || len(picture.Volumes) != 1 || picture.Total <= 0 || picture.Factor != 1 || !picture.Due(picture.Volumes[0]).Equal(time.Unix(1e9+3600, 0)) {
		t.Errorf("the picture is %+v, %v", picture, err)
	}
	for id, want := range map[string]fault.Code{"nobody": fault.NotFound, "used": fault.Conflict, "..": fault.NotFound} {
		if err := n.Purge(t.Context(), id); fault.CodeOf(err) != want {
			t.Errorf("purging %s says %v", id, err)
		}
		if err := n.Archive(t.Context(), id, io.Discard); fault.CodeOf(err) != want {
			t.Errorf("reading %s says %v", id, err)
		}
	}
	if err := n.Purge(t.Context(), "v"); err != nil || n.there(n.data("v")) {
		t.Errorf("purging says %v", err)
	}
	n.wantWaiting("")
}
