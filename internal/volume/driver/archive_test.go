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
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// An archive has all that is in a volume, byte for byte, and nothing else: links as what they are, nothing
// of what is mounted in it.
func TestArchive(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	at, when := n.target("v"), time.Unix(1_234_567_890, 123_456_789)
	content := bytes.Repeat([]byte("scratch\x00"), 100_000)
	long := strings.Repeat("long/", 60) + "name"
	if err := errors.Join(
		os.MkdirAll(at+"/dir/empty", 0o755), os.WriteFile(at+"/dir/file", content, 0o600), os.Chmod(at+"/dir/file", 0o4751),
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
