package copy_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/exec"
	filecopy "github.com/berthdev/berth/internal/exec/copy"
	"github.com/berthdev/berth/internal/skiptest"
)

// place is the other end: a directory of this machine, with the programs of GNU or those
// of busybox.
type place struct{ home, path string }

// run is a Runner.
func (p place) run(ctx context.Context, command []string, s exec.Session) (int, error) {
	program := ""
	for _, dir := range filepath.SplitList(p.path) {
		if info, err := os.Stat(filepath.Join(dir, command[0])); err == nil && !info.IsDir() {
			program = filepath.Join(dir, command[0])
			break
		}
	}
	cmd := osexec.CommandContext(ctx, program, command[1:]...)
	cmd.Env = []string{"HOME=" + p.home, "PATH=" + p.path}
	cmd.Stdout, cmd.Stderr = s.Stdout, s.Stderr
	if s.Stdin != nil { // as a connection has it: the command can end before its input
		in, err := cmd.StdinPipe()
		if err != nil {
			return 0, err
		}
		go func() {
			buf := make([]byte, 32<<10)
			for {
				n, err := s.Stdin.Read(buf)
				if n > 0 {
					if _, err := in.Write(buf[:n]); err != nil {
						break
					}
				}
				if err != nil {
					break
				}
			}
			_ = in.Close()
		}()
	}
	err := cmd.Run()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	if exit, ok := errors.AsType[*osexec.ExitError](err); ok {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// places are other ends with the programs of different makers.
func places(t *testing.T) map[string]place {
	t.Helper()
	all := map[string]place{}
	if out, err := osexec.Command("tar", "--version").Output(); err == nil && strings.Contains(string(out), "GNU tar") {
		all["gnu"] = place{t.TempDir(), os.Getenv("PATH")}
	}
	if busybox, err := osexec.LookPath("busybox"); err == nil {
		all["busybox"] = place{
			t.TempDir(),
			programs(t, busybox, "sh", "tar", "mkdir", "mv", "rm", "chmod", "readlink", "cat", "cp"),
		}
	}
	if len(all) == 0 {
		skiptest.Lacks(t, "there is no tar")
	}
	return all
}

// programs is a directory with some of busybox's.
func programs(t *testing.T, busybox string, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		if err := os.Symlink(busybox, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

// at is a time that is not now.
var at = time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)

// grow makes a tree with everything that is kept.
func grow(t *testing.T, dir string) {
	t.Helper()
	long := strings.Repeat("l", 100) + "/" + strings.Repeat("o", 255) + "/" + strings.Repeat("ng", 100)
	must(t,
		os.MkdirAll(filepath.Join(dir, "empty"), 0o755),
		os.MkdirAll(filepath.Join(dir, "locked"), 0o755),
		os.MkdirAll(filepath.Join(dir, "links"), 0o755),
		os.MkdirAll(filepath.Join(dir, filepath.Dir(long)), 0o755),
		os.WriteFile(filepath.Join(dir, long), []byte("long"), 0o644),
		os.WriteFile(filepath.Join(dir, "locked", "x"), []byte("x"), 0o400),
		os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\n"), 0o755),
		os.WriteFile(filepath.Join(dir, "none"), nil, 0o600),
		os.Symlink("run", filepath.Join(dir, "link")),
		os.Symlink("../run", filepath.Join(dir, "links", "up")),
		os.Symlink("nowhere", filepath.Join(dir, "dangling")),
		os.WriteFile(filepath.Join(dir, "links", "first"), []byte("first"), 0o640),
		os.Link(filepath.Join(dir, "links", "first"), filepath.Join(dir, "links", "second")),
	)
	for _, odd := range []string{
		"-rf", "a b", "new\nline", "ünïcødé", "tab\t", "*", "back\\slash", ".hidden", "..dots",
		"'\"$(x)", strings.Repeat("ä", 127), "\xff\xfe",
	} {
		must(t, os.WriteFile(filepath.Join(dir, odd), []byte(odd), 0o644))
	}
	for _, name := range []string{"run", "none", "empty", filepath.Dir(long), filepath.Dir(filepath.Dir(long)), "."} {
		must(t, os.Chtimes(filepath.Join(dir, name), at, at))
	}
	must(t, os.Chtimes(filepath.Join(dir, "locked"), at, at), os.Chmod(filepath.Join(dir, "locked"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "locked"), 0o755) })
}

// listing describes a tree: names, types, modes, times, links and contents.
func listing(t *testing.T, dir string) string {
	t.Helper()
	return describe(t, dir, true)
}

// describe leaves out the times of directories where something may have been for a while.
func describe(t *testing.T, dir string, times bool) string {
	t.Helper()
	var lines []string
	var files []fs.FileInfo
	var names []string
	must(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		line := fmt.Sprintf("%q %s", name, info.Mode())
		switch {
		case e.Type()&fs.ModeSymlink != 0:
			link, _ := os.Readlink(path)
			line += " -> " + link
		case e.Type().IsRegular():
			content, _ := os.ReadFile(path)
			same := func(other fs.FileInfo) bool { return os.SameFile(info, other) }
			if first := slices.IndexFunc(files, same); first >= 0 {
				line += " = " + names[first]
			}
			files, names = append(files, info), append(names, name)
			line += fmt.Sprintf(" %d %q", info.ModTime().Unix(), content)
		case e.IsDir() && times && name != "links": // busybox makes hard links, and links that go up, at its very end
			line += fmt.Sprintf(" %d", info.ModTime().Unix())
		}
		lines = append(lines, line)
		return nil
	}))
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

// noLeftovers fails the test if a temporary directory is left.
func noLeftovers(t *testing.T, dirs ...string) {
	t.Helper()
	for _, dir := range dirs {
		if left, _ := filepath.Glob(filepath.Join(dir, filecopy.Temporary+"*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}

// A tree is the same at the other end, and again after the way back.
func TestTreeThereAndBack(t *testing.T) {
	for name, p := range places(t) {
		t.Run(name, func(t *testing.T) {
			here := t.TempDir()
			grow(t, filepath.Join(here, "src"))
			if forgetsModes(name) {
				must(t, os.Chmod(filepath.Join(here, "src", "locked"), 0o755))
			}
			for _, dir := range []string{here, p.home} {
				t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "new", "locked"), 0o755) })
			}
			want := listing(t, filepath.Join(here, "src"))
			r, err := filecopy.Send{
				Run: p.run, From: filepath.Join(here, "src"), To: "new",
				Meter: &filecopy.Meter{},
			}.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			there := filepath.Join(p.home, "new")
			if got := listing(t, there); got != want {
				t.Errorf("there:\n%s\nwant\n%s", got, want)
			}
			if r.Path != there || r.Files != 18 || len(r.Warnings) > 0 {
				t.Errorf("%+v", r)
			}
			back, err := filecopy.Receive{Run: p.run, From: "new", To: here, Meter: &filecopy.Meter{}}.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got := listing(t, filepath.Join(here, "new")); got != want {
				t.Errorf("back:\n%s\nwant\n%s", got, want)
			}
			if back.Path != filepath.Join(here, "new") || back.Files != r.Files || back.Bytes != r.Bytes ||
				len(back.Warnings) > 0 {
				t.Errorf("%+v, sent %+v", back, r)
			}
			noLeftovers(t, here, p.home)
		})
	}
}

// forgetsModes is true for a tar that leaves directories writable for who is not root.
func forgetsModes(maker string) bool { return maker == "busybox" && os.Geteuid() != 0 }

// What is added to a directory has its modes, and what is there keeps its own, both ways.
func TestModesOfWhatIsAdded(t *testing.T) {
	for maker, p := range places(t) {
		for direction, copyOne := range ways(t) {
			t.Run(maker+" "+direction, func(t *testing.T) {
				if direction == "send" && forgetsModes(maker) {
					t.Skip("the tar of busybox does not keep the modes of directories")
				}
				p := place{t.TempDir(), p.path}
				here, there := t.TempDir(), p.home
				must(t, os.MkdirAll(filepath.Join(there, "src", "both"), 0o755),
					os.Chmod(filepath.Join(there, "src", "both"), 0o750))
				modes := map[string]fs.FileMode{
					"both/new/in": 0o500, "both/new": 0o555, "both": 0o555, "new/in": 0o700,
					"new": 0o577,
				}
				for _, name := range []string{"both/new/in", "both/new", "both", "new/in", "new"} {
					path := filepath.Join(here, "src", name)
					must(t, os.MkdirAll(path, 0o755), os.WriteFile(filepath.Join(path, "f"), nil, 0o600),
						os.Chmod(path, modes[name]))
					for _, dir := range []string{path, filepath.Join(there, "src", name)} {
						t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
					}
				}
				must(t, copyOne(p, here, "src", ""))
				modes["both"] = 0o750
				for name, want := range modes {
					info, err := os.Stat(filepath.Join(there, "src", name))
					must(t, err)
					if info.Mode().Perm() != want {
						t.Errorf("%s: %v, want %v", name, info.Mode(), want)
					}
					if _, err := os.Stat(filepath.Join(there, "src", name, "f")); err != nil {
						t.Error(err)
					}
				}
				noLeftovers(t, there, filepath.Join(there, "src"), filepath.Join(there, "src", "both"))
			})
		}
	}
}
