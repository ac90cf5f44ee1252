//go:build e2e

package e2e

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// in runs a script in a workspace and returns what it prints.
func (w *world) in(user, script string) string {
	w.Helper()
	return strings.TrimSpace(w.must(0, "exec", user, "--", "sh", "-c", script).stdout)
}

// A tree goes to a workspace and comes back as it was: links, odd names, modes, times,
// empty and locked directories, a file with a hole.
func TestCopyThereAndBack(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	dir := t.TempDir()
	src := filepath.Join(dir, "src")
	long := strings.Repeat("l", 255)
	at := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	big := make([]byte, 8<<20)
	_, _ = rand.Read(big)
	for name, text := range map[string][]byte{"-rf": []byte("x"), "a b\nc": []byte("x"), "ünï": nil, long + "/" +
		long: []byte("long"), "sub/big": big} {
		path := filepath.Join(src, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, text, 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, err := range []error{
		os.Symlink("big", filepath.Join(src, "sub", "link")),
		os.Link(filepath.Join(src, "sub", "big"), filepath.Join(src, "sub", "hard")),
		os.MkdirAll(filepath.Join(src, "empty"), 0o700), os.WriteFile(filepath.Join(src, "sparse"), []byte("x"), 0o600),
		os.Truncate(filepath.Join(src, "sparse"), 32<<20),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	there := decode[v1.CopyResult](w, w.must(0, "cp", src, "alice~plain:", "-o", "json"))
	if there.Files != 7 || there.Direction != v1.CopyTo || !strings.HasSuffix(there.Destination, "/src") {
		t.Errorf("%+v", there)
	}
	if got := w.in("alice~plain", `cd ~/src && readlink sub/link && [ sub/big -ef sub/hard ] && stat -c '%a %Y' -- `+
		`./-rf && stat -c %a empty && ls -a ~`); got != "big\n750 1580702706\n700\n.\n..\nsrc" {
		t.Errorf("there it is %q", got)
	}
	back := filepath.Join(dir, "back")
	r := w.must(0, "cp", "alice~plain:src", back)
	w.contains(r.stderr, "Copied 7 files")
	if r.stdout != "" {
		t.Errorf("stdout %q", r.stdout)
	}
	for _, name := range []string{
		"-rf", "a b\nc", "ünï", long + "/" + long, "sub/big", "sub/hard", "sub/link",
		"sparse",
	} {
		want, err := os.ReadFile(filepath.Join(src, name))
		got, err2 := os.ReadFile(filepath.Join(back, name))
		if err != nil || err2 != nil || !bytes.Equal(got, want) {
			t.Errorf("%.40q is not the same: %v, %v", name, err, err2)
		}
	}
	info, err := os.Stat(filepath.Join(back, "-rf"))
	if err != nil || info.Mode() != 0o750 || !info.ModTime().Equal(at) {
		t.Errorf("%v, %v, %v", info.Mode(), info.ModTime(), err)
	}
}

// What cannot be copied is named, and nothing is left of it.
func TestCopyRefused(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	dir := t.TempDir()
	w.in("alice~plain", "cd ~ && mkdir t && mkfifo t/pipe t/second && ln -s /etc/passwd out && mkdir "+
		"full && echo old >f")
	both := w.must(3, "cp", "alice~plain:t", dir).stderr
	w.contains(both, `t/pipe"`, `t/second"`)
	w.contains(w.must(3, "cp", "alice~plain:out", dir).stderr, "--outside-links")
	w.contains(w.must(7, "cp", "alice~plain:nothing", dir).stderr, "nothing does not exist in the workspace")
	w.contains(w.must(7, "cp", filepath.Join(dir, "nothing"), "alice~plain:").stderr, "does not exist on this machine")
	w.contains(w.must(6, "cp", dir, "alice~plain:f").stderr, "is not a directory")
	w.contains(w.must(2, "cp", "alice~plain:f", dir, "--pod", "other").stderr, "pod other is not a pod of workspace")
	w.contains(w.must(2, "cp", "alice~plain:f", dir, "-c", "other").stderr, "has no container other")
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	w.must(0, "cp", "alice~plain:out", dir, "--outside-links")
	if link, err := os.Readlink(filepath.Join(dir, "out")); link != "/etc/passwd" {
		t.Errorf("%q, %v", link, err)
	}
}

// A full disk, and what may not be read or written, at either end is the reason that is
// named, with its path, and leaves nothing.
func TestCopyCannot(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev") // with a scratch of 8 MiB
	w.must(0, "provision", "bob~restricted")
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	noise := make([]byte, 24<<20)
	_, _ = rand.Read(noise)
	if err := os.WriteFile(big, noise, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Run("full there", func(t *testing.T) {
		r := w.must(3, "cp", big, "alice~dev:/scratch/")
		w.contains(r.stderr, "cannot write to /scratch/ in the container: ", "No space left on device")
		if left := w.in("alice~dev", "ls -A /scratch"); left != "" {
			t.Errorf("left: %s", left)
		}
	})
	t.Run("not permitted there", func(*testing.T) {
		w.contains(w.must(3, "cp", big, "bob~restricted:/etc/").stderr, "cannot write to /etc/ in the container: ",
			"Permission denied")
		w.in("bob~restricted", "cd ~ && mkdir d && echo a >d/a && echo b >d/b && chmod 0 d/a d/b")
		w.contains(w.must(3, "cp", "bob~restricted:d", filepath.Join(dir, "new")).stderr, "2 problems", "./d/a",
			"./d/b", "Permission denied")
	})
	if os.Geteuid() != 0 {
		return // what follows takes root
	}
	scratch := filepath.Join(dir, "scratch")
	if err := os.MkdirAll(scratch, 0o755); err != nil {
		t.Fatal(err)
	}
	here := func(script string, args ...string) result {
		w.Helper()
		cmd := w.command(args...)
		cmd.Args = append([]string{"sh", "-c", script, scratch}, cmd.Args...)
		cmd.Path = "/bin/sh"
		return w.finish(cmd)
	}
	t.Run("full here", func(t *testing.T) {
		w.in("alice~dev", "cd ~ && mkdir d && head -c 6000000 /dev/zero | tr '\\0' x >d/x")
		r := here(`unshare -m sh -c 'mount -t tmpfs -o size=4m none "$0" && "$@"; status=$?; ls -A "$0"; exit `+
			`$status' "$0" "$@"`, "cp", "alice~dev:d", scratch+"/new")
		r.mustBe(w, 3)
		w.contains(r.stderr, "cannot write "+scratch+"/new/x on this machine: no space left on device")
		if r.stdout != "" {
			t.Errorf("left: %s", r.stdout)
		}
	})
	t.Run("not permitted here", func(t *testing.T) {
		const limited = `setpriv --bounding-set=-dac_override,-dac_read_search "$@"`
		locked := filepath.Join(scratch, "locked")
		if err := errors.Join(os.Mkdir(locked, 0o555), os.WriteFile(scratch+"/a", nil, 0),
			os.WriteFile(scratch+"/b", nil, 0)); err != nil {
			t.Fatal(err)
		}
		w.contains(here(limited, "cp", scratch, "alice~dev:").stderr, "2 problems", "cannot read "+scratch+
			"/a on this machine: permission denied", scratch+"/b")
		w.contains(here(limited, "cp", "alice~dev:d", locked).stderr, "cannot write to "+locked+
			" on this machine: permission denied")
	})
	if left, _ := filepath.Glob(filepath.Join(dir, "new*")); len(left) > 0 {
		t.Errorf("left: %s", left)
	}
}

// temporary begins the names of what is not complete.
const temporary = ".berth-cp-"

// Killed on the way, a copy leaves nothing under the final name, and the next removes what
// is left.
func TestCopyKilled(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	dir := t.TempDir()
	big := filepath.Join(dir, "big")
	noise := make([]byte, 100<<20)
	_, _ = rand.Read(noise)
	if err := os.WriteFile(big, noise, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		run := w.start("cp", big, "alice~plain:new")
		w.eventually("something arrives there",
			func() bool { return strings.Contains(w.in("alice~plain", "cd ~; ls -A"), temporary) })
		run.signal(os.Kill)
		run.wait()
		w.eventually("nothing is left there", func() bool { return w.in("alice~plain", "cd ~; ls -A") == "" })
	}
	w.must(0, "cp", big, "alice~plain:new")
	to := filepath.Join(dir, "back")
	temporaries := func() []string {
		left, _ := filepath.Glob(filepath.Join(dir, temporary+"*"))
		return left
	}
	for range 2 {
		before := temporaries()
		run := w.start("cp", "alice~plain:new", to)
		w.eventually("something arrives here", func() bool {
			return slices.ContainsFunc(temporaries(), func(name string) bool { return !slices.Contains(before, name) })
		})
		run.signal(os.Kill)
		run.wait()
		if _, err := os.Stat(to); err == nil {
			t.Error("what was killed is there")
		}
	}
	w.must(0, "cp", "alice~plain:new", to)
	if got, err := os.ReadFile(to); err != nil || !bytes.Equal(got, noise) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if left := temporaries(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
