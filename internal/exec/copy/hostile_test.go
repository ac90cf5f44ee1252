package copy_test

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/exec"
	filecopy "github.com/berthdev/berth/internal/exec/copy"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// sends is another end that sends these bytes and ends well.
func sends(stream []byte) exec.Runner {
	return func(ctx context.Context, _ []string, s exec.Session) (int, error) {
		_, _ = io.Copy(s.Stdout, bytes.NewReader(stream))
		return 0, context.Cause(ctx)
	}
}

// archive is a tar stream of a directory, x, and what is in it.
func archive(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range append([]tar.Header{{Typeflag: tar.TypeDir, Name: "./x/", Mode: 0o755}}, entries...) {
		if h.Mode == 0 {
			h.Mode = 0o644
		}
		if h.Typeflag == tar.TypeReg {
			h.Size = 4
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			_, _ = w.Write([]byte("evil"))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Nothing that a stream says leads out of the destination, and what is refused leaves
// nothing.
func TestRefused(t *testing.T) {
	file := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name} }
	link := func(name, to string) tar.Header {
		return tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: to}
	}
	links := skiptest.CanSymlink(t)
	for name, c := range map[string]struct {
		entries []tar.Header
		says    string
	}{
		"climbing":           {[]tar.Header{file("./x/../../evil")}, "climbs out with .."},
		"an absolute name":   {[]tar.Header{file("/tmp/evil")}, "its name is absolute"},
		"something else":     {[]tar.Header{file("./y")}, "it is not in x"},
		"a link that climbs": {[]tar.Header{link("./x/l", "../../evil")}, `it is a link to "../../evil"`},
		"an absolute link":   {[]tar.Header{link("./x/l", "/etc/passwd")}, `it is a link to "/etc/passwd"`},
		"through a link": {
			[]tar.Header{link("./x/l", "."), file("./x/l/evil")},
			"it is in no directory that was sent before it",
		},
		"over a link":          {[]tar.Header{link("./x/l", "f"), file("./x/l")}, "exists"},
		"a directory over one": {[]tar.Header{link("./x/l", "."), {Typeflag: tar.TypeDir, Name: "./x/l/"}}, "exists"},
		"twice":                {[]tar.Header{file("./x/f"), file("./x/f")}, "exists"},
		"a hard link that climbs": {
			[]tar.Header{{Typeflag: tar.TypeLink, Name: "./x/h", Linkname: "../evil"}},
			"climbs out with ..",
		},
		"a hard link outside": {
			[]tar.Header{{Typeflag: tar.TypeLink, Name: "./x/h", Linkname: "/etc/passwd"}},
			"its name is absolute",
		},
		"a device": {
			[]tar.Header{{Typeflag: tar.TypeChar, Name: "./x/null", Devmajor: 1, Devminor: 3}},
			"a device or a pipe",
		},
		"a pipe":       {[]tar.Header{{Typeflag: tar.TypeFifo, Name: "./x/p"}}, "a device or a pipe"},
		"no directory": {[]tar.Header{file("./x/d/f")}, "in no directory"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, err := filecopy.Receive{
				Run: sends(archive(t, c.entries...)), From: "x", To: dir,
				Meter: &filecopy.Meter{},
			}.Do(t.Context())
			isLink := func(h tar.Header) bool { return h.Typeflag == tar.TypeSymlink }
			if !links && slices.ContainsFunc(c.entries, isLink) {
				c.says = "" // the system says something else
			}
			if fault.CodeOf(err) != fault.Failed || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// All that is refused is named.
func TestRefusedAreAllNamed(t *testing.T) {
	stream := archive(t, tar.Header{Typeflag: tar.TypeFifo, Name: "./x/a"},
		tar.Header{Typeflag: tar.TypeFifo, Name: "./x/b"})
	_, err := filecopy.Receive{Run: sends(stream), From: "x", To: t.TempDir(), Meter: &filecopy.Meter{}}.Do(t.Context())
	if problems := fault.From(err).Problems; len(problems) != 2 || !strings.Contains(problems[1], "./x/b") {
		t.Errorf("%v: %q", err, problems)
	}
}

// Programs do not run as their owner because a stream says so.
func TestSetuidIsNotKept(t *testing.T) {
	dir := t.TempDir()
	stream := archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "./x/su", Mode: 0o6755})
	_, err := filecopy.Receive{Run: sends(stream), From: "x", To: dir, Meter: &filecopy.Meter{}}.Do(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "x", "su")); err != nil || info.Mode() != 0o755 && !skiptest.Windows {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// What is read-only is replaced like everything else: a repository has such files, and is copied again.
func TestReadOnlyFilesAreReplaced(t *testing.T) {
	dir := t.TempDir()
	stream := archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "./x/object", Mode: 0o444})
	for range 2 {
		_, err := filecopy.Receive{Run: sends(stream), From: "x", To: dir, Meter: &filecopy.Meter{}}.Do(t.Context())
		must(t, err, os.Chmod(filepath.Join(dir, "x", "object"), 0o444)) // Wine forgets it
	}
}

// Directories that are there keep their modes, whatever a stream says of them. Only new
// ones get those that were sent.
func TestModesOfWhatIsThereAreKept(t *testing.T) {
	skiptest.OnWindows(t, "directories have no modes")
	dir := t.TempDir()
	home := filepath.Join(dir, "x")
	must(t, os.MkdirAll(filepath.Join(home, ".ssh"), 0o700))
	stream := archive(t,
		tar.Header{Typeflag: tar.TypeDir, Name: "./x/", Mode: 0o677},
		tar.Header{Typeflag: tar.TypeDir, Name: "./x/.ssh/", Mode: 0o377},
		tar.Header{Typeflag: tar.TypeDir, Name: "./x/.ssh/new/", Mode: 0o577},
	)
	_, err := filecopy.Receive{Run: sends(stream), From: "x", To: dir, Meter: &filecopy.Meter{}}.Do(t.Context())
	must(t, err)
	for name, want := range map[string]os.FileMode{".": 0o700, ".ssh": 0o700, ".ssh/new": 0o577} {
		if info, err := os.Stat(filepath.Join(home, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
}

// What is no archive, or goes on without an end, is an error.
func TestNoArchive(t *testing.T) {
	whole := archive(t, tar.Header{Typeflag: tar.TypeReg, Name: "./x/f"})
	for name, stream := range map[string][]byte{
		"nothing": nil, "text": []byte(strings.Repeat("hello\n", 500)), "cut": whole[:700],
		"cut in a file": whole[:1026],
		"more":          append(bytes.Clone(whole), make([]byte, 5<<20)...),
	} {
		dir := t.TempDir()
		_, err := filecopy.Receive{Run: sends(stream), From: "x", To: dir, Meter: &filecopy.Meter{}}.Do(t.Context())
		if fault.CodeOf(err) != fault.Failed {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: left: %v", name, left)
		}
	}
}

// FuzzReceive: whatever is sent, nothing appears beside the destination, and of a failure
// nothing in it.
func FuzzReceive(f *testing.F) {
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeReg, Name: "./x/f"},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "./x/l", Linkname: "f"}))
	f.Add(archive(f, tar.Header{Typeflag: tar.TypeLink, Name: "./x/h", Linkname: "./x/../../f"}))
	f.Fuzz(func(t *testing.T, stream []byte) {
		outside := t.TempDir()
		dir := filepath.Join(outside, "dir")
		must(t, os.Mkdir(dir, 0o755))
		_, err := filecopy.Receive{Run: sends(stream), From: "x", To: dir, Meter: &filecopy.Meter{}}.Do(t.Context())
		around, _ := os.ReadDir(outside)
		in, _ := os.ReadDir(dir)
		if len(around) != 1 || err != nil && len(in) > 0 || len(in) > 1 || len(in) == 1 && in[0].Name() != "x" {
			t.Errorf("%v: %v, %v", err, around, in)
		}
	})
}
