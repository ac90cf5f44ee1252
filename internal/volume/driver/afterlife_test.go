//go:build linux

package driver

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
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
	if n.there(n.data("v")) || !n.there(other+"/precious") || !n.there(other+"/dir") ||
		!n.there(n.root+"/work/queue.db") {
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
	found := n.one()
	release, err := n.locks.take(t.Context(), "v")
	if err != nil {
		t.Fatal(err)
	}
	if err := n.evict(t.Context(), found, "expired"); !errors.Is(err, queue.ErrHeld) {
		t.Errorf("while it is worked on: %v", err)
	}
	release()
	n.publish("v")
	if err := n.evict(t.Context(), found, "expired"); err != nil || !n.there(n.target("v")+"/file") {
		t.Errorf("while it is in use: %v", err)
	}
	unmountBelow(t, n.root) // even if nobody sees that it is
	if err := n.evict(t.Context(), found, "expired"); err != nil || !n.there(n.data("v")+"/file") {
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
	if err != nil || picture.Node != "node-1" || picture.Used != 1 || len(picture.Volumes) != 1 || picture.Total <= 0 ||
		picture.Factor != 1 || !picture.Due(picture.Volumes[0]).Equal(time.Unix(1e9+3600, 0)) {
		t.Errorf("the picture is %+v, %v", picture, err)
	}
	for id, want := range map[string]fault.Code{
		"nobody": fault.NotFound, "used": fault.Conflict,
		"..": fault.NotFound,
	} {
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

// An archive has all that is in a volume, byte for byte, and nothing else: links as what they are, nothing
// of what is mounted in it.
func TestArchive(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	at, when := n.target("v"), time.Unix(1_234_567_890, 123_456_789)
	content := bytes.Repeat([]byte("scratch\x00"), 100_000)
	long := strings.Repeat("long/", 60) + "name"
	if err := errors.Join(
		os.MkdirAll(at+"/dir/empty", 0o755), os.WriteFile(at+"/dir/file", content, 0o600),
		os.Chmod(at+"/dir/file", 0o4751),
		os.Chown(at+"/dir/file", 1000, 2000),
		os.Chmod(at+"/dir/file", 0o751), os.Link(at+"/dir/file", at+"/again"), os.Symlink("/etc/passwd", at+"/link"),
		os.WriteFile(at+"/empty", nil, 0o644),
		os.MkdirAll(filepath.Dir(at+"/"+long), 0o755), os.WriteFile(at+"/"+long, []byte("deep"), 0o644),
		unix.Mkfifo(at+"/pipe", 0o600), os.MkdirAll(at+"/mounted", 0o755),
		os.Chtimes(at+"/dir/file", when, when),
	); err != nil {
		t.Fatal(err)
	}
	n.unpublish("v")
	if err := errors.Join(os.MkdirAll(n.root+"/other", 0o755), os.WriteFile(n.root+"/other/secret", nil, 0o600),
		unix.Mount(n.root+"/other", n.data("v")+"/mounted", "", unix.MS_BIND, "")); err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	if err := n.Archive(t.Context(), "v", &archive); err != nil {
		t.Fatal(err)
	}
	got, links := map[string]string{}, 0
	for reader := tar.NewReader(&archive); ; {
		h, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(reader)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case h.Typeflag == tar.TypeLink: // which of the two names comes first is up to the directory
			links++
			got[h.Name] = "the file"
		case bytes.Equal(text, content):
			got[h.Name] = "the file"
			if h.Mode != 0o751 || h.Uid != 1000 || h.Gid != 2000 || !h.ModTime.Equal(when) {
				t.Errorf("the file has mode %o, owner %d:%d, %s", h.Mode, h.Uid, h.Gid, h.ModTime)
			}
		default:
			got[h.Name] = fmt.Sprintf("%c %s%s", h.Typeflag, h.Linkname, text)
		}
	}
	for name, want := range map[string]string{
		"dir/": "5 ", "dir/empty/": "5 ", "dir/file": "the file",
		"again": "the file", "link": "2 /etc/passwd", "empty": "0 ", long: "0 deep",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	for _, name := range []string{"pipe", "mounted/", "mounted/secret", "./"} {
		if is, ok := got[name]; ok {
			t.Errorf("%s is in it: %q", name, is)
		}
	}
	if links != 1 {
		t.Errorf("%d hard links are in it", links)
	}
}

// A hundred volumes at once, and requests for the same one at once: each is there once, and all
// go.
func TestAtOnce(t *testing.T) {
	n := newNode(t, func(o *Options) { o.Now = time.Now })
	ctx, stop := testContext(t)
	var work, requests sync.WaitGroup
	work.Go(func() { n.Driver.Run(ctx) })
	for i := range 100 {
		for range 2 {
			requests.Go(func() {
				id := fmt.Sprintf("v-%d", i)
				if _, err := n.NodePublishVolume(ctx, n.request(id, "afterlife", "0s")); err != nil {
					t.Error(err)
				}
			})
		}
	}
	requests.Wait()
	if f := n.queue.Figures(); f.Used != 100 {
		t.Errorf("counted are %+v", f)
	}
	for i := range 100 {
		for range 2 {
			requests.Go(func() {
				if err := n.tryUnpublish(fmt.Sprintf("v-%d", i)); err != nil {
					t.Error(err)
				}
			})
		}
	}
	requests.Wait()
	stop()
	work.Wait()
	n.prune()
	left, _ := filepath.Glob(n.root + "/work/*/*")
	if f := n.queue.Figures(); f.Used+f.Waiting != 0 || len(left) > 0 {
		t.Errorf("counted are %+v, left are %q", f, left)
	}
}

// Of many that come at once, no more are published than the node may have.
func TestLimitAtOnce(t *testing.T) {
	n := newNode(t, func(o *Options) { o.MaxVolumes = 5 })
	var published atomic.Int64
	var requests sync.WaitGroup
	for i := range 30 {
		requests.Go(func() {
			if _, err := n.NodePublishVolume(t.Context(), n.request(fmt.Sprintf("v-%d", i))); err == nil {
				published.Add(1)
			}
		})
	}
	requests.Wait()
	if published.Load() != 5 {
		t.Errorf("%d are published", published.Load())
	}
}
