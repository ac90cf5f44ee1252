package blueprint

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// files writes files, and returns what is to replace them.
func files(t *testing.T, names ...string) (all []replacement) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
			t.Fatal(err)
		}
		all = append(all, replacement{from: path, path: path, before: []byte("old"), text: []byte("new")})
	}
	return all
}

func holds(t *testing.T, path, want string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil || string(text) != want {
		t.Errorf("%s: %q, want %q (%v)", path, text, want, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v %v", info, err)
	}
	if parts, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(parts) > 0 {
		t.Errorf("left behind: %q", parts)
	}
}

// What somebody has written since the file was read is kept, and the files before it are as they were.
func TestWriteChangedMeanwhile(t *testing.T) {
	all := files(t, "a", "b")
	if err := os.WriteFile(all[1].path, []byte("theirs"), 0o640); err != nil {
		t.Fatal(err)
	}
	err := write(all, true)
	if err == nil || !strings.Contains(err.Error(), "nothing is written: ") ||
		!strings.Contains(err.Error(), all[1].path+": changed meanwhile") {
		t.Errorf("%v", err)
	}
	holds(t, all[0].path, "old")
	holds(t, all[1].path, "theirs")
}

// It is said whether anything is written.
func TestWriteUndone(t *testing.T) {
	fine := func() error { return nil }
	fails := func() error { return errors.New("a is converted already") }
	for want, undo := range map[string][]func() error{
		"nothing is written: full":    {fine},
		"some files are written, and": {fine, fails, fine},
	} {
		err := undone(errors.New("full"), undo)
		if fault.CodeOf(err) != fault.Failed || !strings.HasPrefix(err.Error(), want) ||
			!strings.Contains(err.Error(), "full") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// Where there are no links, the file is written, unless it is there.
func TestWriteWithoutLinks(t *testing.T) {
	r := files(t, "a")[0]
	r.path, r.part, r.mode = r.path+".new", filepath.Join(t.TempDir(), "none", "part"), 0o640
	if _, err := r.put(false); err != nil {
		t.Fatal(err)
	}
	holds(t, r.path, "new")
	r.text = []byte("other")
	if _, err := r.put(false); !errors.Is(err, os.ErrExist) {
		t.Errorf("%v", err)
	}
	holds(t, r.path, "new")
}
