//go:build linux

package driver

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
	"github.com/berthdev/berth/internal/volume/queue"
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
	if said := n.log.String(); !strings.Contains(said, "msg=audit") || !strings.Contains(said, "volume=old") ||
		!strings.Contains(said, "reason=expired") || strings.Contains(said, "volume=new") {
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
			if err := errors.Join(os.Mkdir(at, 0o700),
				unix.Mount(filepath.Join(n.data("v"), where), at, "", unix.MS_BIND, "")); err != nil {
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
	for link, to := range map[string]string{
		"dir": other, "file": other + "/precious", "up": "../../..",
		"itself": "itself", "nowhere": "nowhere",
	} {
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
	if err := errors.Join(os.RemoveAll(n.data("w")), os.Symlink("../../other", n.data("w")),
		os.RemoveAll(n.root+"/work/pod-x"), os.Symlink("../other", n.root+"/work/pod-x"),
		os.Mkdir(other+"/x", 0o700)); err != nil {
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
	if err := errors.Join(dir.Mkdir("closed", 0), dir.Mkdir(".deep-1", 0o700),
		unix.Mkfifo(n.target("v")+"/pipe", 0)); err != nil {
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
		skiptest.Lacks(t, "the file system has no immutable files: %v", err)
	}
	defer func() { _ = unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, 0) }()
	n.clock.add(2 * time.Hour)
	n.prune()
	n.wantWaiting("a")
	if v := n.one(); !strings.Contains(v.Failure, `cannot remove "file": operation not permitted`) {
		t.Errorf("it says %q", v.Failure)
	}
	// What is left of it is not taken for the whole, by nobody and by no other driver.
	half := func() {
		t.Helper()
		if err := n.Archive(t.Context(), "a", io.Discard); fault.CodeOf(err) != fault.Conflict ||
			!strings.Contains(err.Error(), "being removed") {
			t.Errorf("it is read: %v", err)
		}
		if found, err := n.dir.List(); len(found) > 0 || err != nil {
			t.Errorf("there are %v, %v", found, err)
		}
	}
	half()
	n.again()
	half()
	if err := unix.IoctlSetPointerInt(int(file.Fd()), unix.FS_IOC_SETFLAGS, 0); err != nil {
		t.Fatal(err)
	}
	n.completeRemovals(t.Context())
	n.wantWaiting("")
	if left, _ := filepath.Glob(n.root + "/work/pod-*"); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}
