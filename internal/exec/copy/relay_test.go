package copy_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	filecopy "github.com/berthdev/berth/internal/exec/copy"
	"github.com/berthdev/berth/internal/fault"
)

// archiveOf is the archive of a directory, without an entry for itself.
func archiveOf(dir string) filecopy.Archive {
	return func(ctx context.Context, to io.Writer) error {
		cmd := osexec.CommandContext(ctx, "sh", "-c",
			`cd "$1" && find . -mindepth 1 -maxdepth 1 -print0 | tar --null --format=posix -c -f - -T -`, "sh", dir)
		cmd.Stdout = to
		return cmd.Run()
	}
}

func bytesOf(stream []byte) filecopy.Archive {
	return func(_ context.Context, to io.Writer) error {
		_, err := io.Copy(to, bytes.NewReader(stream))
		return err
	}
}

// What an archive has is the same in a workspace, and on this machine.
func TestArchiveArrives(t *testing.T) {
	for name, p := range places(t) {
		t.Run(name, func(t *testing.T) {
			from, here := filepath.Join(t.TempDir(), "src"), t.TempDir()
			grow(t, from)
			if forgetsModes(name) {
				must(t, os.Chmod(filepath.Join(from, "locked"), 0o755))
			}
			for _, dir := range []string{from, filepath.Join(here, "new"), filepath.Join(p.home, "new")} {
				t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o755) })
			}
			must(t, os.Chmod(from, 0o755)) // what an archive does not say of itself
			want := describe(t, from, false)
			there, err := filecopy.Relay{
				Run: p.run, From: archiveOf(from), To: "new",
				Meter: &filecopy.Meter{},
			}.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(t, filepath.Join(p.home, "new"), false); got != want ||
				there.Path != filepath.Join(p.home, "new") {
				t.Errorf("there %s:\n%s\nwant\n%s", there.Path, got, want)
			}
			got, err := filecopy.Receive{
				Run: archiveOf(from).Runner(), From: filecopy.Contents,
				To: filepath.Join(here, "new"), Meter: &filecopy.Meter{},
			}.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if here := describe(t, filepath.Join(here, "new"), false); here != want || got.Files != there.Files ||
				got.Bytes != there.Bytes {
				t.Errorf("here %+v, there %+v:\n%s\nwant\n%s", got, there, here, want)
			}
			noLeftovers(t, here, p.home)
		})
	}
}

// An archive of nothing makes an empty directory.
func TestArchiveOfNothing(t *testing.T) {
	var empty bytes.Buffer
	must(t, tar.NewWriter(&empty).Close())
	for name, p := range places(t) {
		here := t.TempDir()
		_, err := filecopy.Receive{
			Run: bytesOf(empty.Bytes()).Runner(), From: filecopy.Contents,
			To: filepath.Join(here, "new"), Meter: &filecopy.Meter{},
		}.Do(t.Context())
		must(t, err)
		_, err = filecopy.Relay{
			Run: p.run, From: bytesOf(empty.Bytes()), To: "new",
			Meter: &filecopy.Meter{},
		}.Do(t.Context())
		must(t, err)
		for _, dir := range []string{filepath.Join(here, "new"), filepath.Join(p.home, "new")} {
			if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
				t.Errorf("%s: %v, %v", name, entries, err)
			}
		}
	}
}

// What a copy to this machine refuses does not get to a workspace either, and leaves
// nothing there. The tar of the workspace is never asked to put an entry in the place of
// another: it could follow a link there.
func TestRelayRefuses(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	dir := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: 0o755} }
	link := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
	}
	for name, c := range map[string]struct {
		entries []tar.Header
		outside bool
		says    string
	}{
		"climbing":           {[]tar.Header{file("x/../../evil")}, true, "climbs out with .."},
		"an absolute name":   {[]tar.Header{file("/tmp/evil")}, true, "its name is absolute"},
		"a link that climbs": {[]tar.Header{link("x/l", "../../evil")}, false, `it is a link to "../../evil"`},
		"through a link": {
			[]tar.Header{link("x/l", "/tmp"), file("x/l/evil")},
			true,
			"it is in no directory that was sent before it",
		},
		"over a link": {[]tar.Header{link("x/l", "/tmp/f"), file("x/l")}, true, "its name was sent before"},
		"a directory over a link": {
			[]tar.Header{link("x/l", "/tmp"), dir("x/l/"), file("x/l/evil")},
			true,
			"its name was sent before",
		},
		"a link over a directory": {
			[]tar.Header{dir("x/l/"), link("x/l", "/tmp"), file("x/l/evil")},
			true,
			"its name was sent before",
		},
		"a link over all of it": {[]tar.Header{link(".", "/tmp"), file("evil")}, true, "its name was sent before"},
		"a hard link that climbs": {
			[]tar.Header{{Typeflag: tar.TypeLink, Name: "x/h", Linkname: "../evil"}},
			true,
			"climbs out with ..",
		},
		"a hard link outside": {
			[]tar.Header{{Typeflag: tar.TypeLink, Name: "x/h", Linkname: "/etc/passwd"}},
			true,
			"its name is absolute",
		},
		"a device": {
			[]tar.Header{{Typeflag: tar.TypeChar, Name: "x/null", Devmajor: 1, Devminor: 3}},
			true,
			"a device or a pipe",
		},
		"a name that ends a copy": {[]tar.Header{file("../complete")}, true, "climbs out with .."},
	} {
		for maker, p := range places(t) {
			t.Run(name+", "+maker, func(t *testing.T) {
				stream := bytesOf(archive(t, c.entries...))
				_, err := filecopy.Relay{
					Run: p.run, From: stream, To: "new", OutsideLinks: c.outside,
					Meter: &filecopy.Meter{},
				}.Do(t.Context())
				if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), c.says) {
					t.Errorf("%v, want %q", err, c.says)
				}
				if left, _ := os.ReadDir(p.home); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
}

// An archive that ends too early arrives nowhere, and why it ended is said.
func TestArchiveIsCut(t *testing.T) {
	whole := archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "./x/f"})
	why := errors.New("the node is gone")
	for _, end := range []int{0, 300, 512, 700, 1026, 1536, len(whole)} {
		cut := filecopy.Archive(func(_ context.Context, to io.Writer) error {
			_, _ = to.Write(whole[:end])
			return why
		})
		for maker, p := range places(t) {
			_, err := filecopy.Relay{Run: p.run, From: cut, To: "new", Meter: &filecopy.Meter{}}.Do(t.Context())
			if !errors.Is(err, why) {
				t.Errorf("%s, %d bytes: %v", maker, end, err)
			}
			here := t.TempDir()
			_, err = filecopy.Receive{
				Run: cut.Runner(), From: filecopy.Contents, To: filepath.Join(here, "new"),
				Meter: &filecopy.Meter{},
			}.Do(t.Context())
			if !errors.Is(err, why) {
				t.Errorf("here, %d bytes: %v", end, err)
			}
			for _, dir := range []string{p.home, here} {
				if left, _ := os.ReadDir(dir); len(left) > 0 {
					t.Errorf("%s, %d bytes: left: %v", maker, end, left)
				}
			}
		}
	}
}
