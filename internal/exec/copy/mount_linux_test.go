package copy_test

import (
	"bytes"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/skiptest"
)

// mounting says that the test runs where it can mount something.
const mounting = "BERTH_TEST_MOUNTING"

// mayMount runs the test once more with mounts of its own; it is false where the test has
// nothing left to do.
func mayMount(t *testing.T) bool {
	t.Helper()
	if os.Getenv(mounting) != "" {
		return true
	}
	cmd := osexec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), mounting+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if _, ran := errors.AsType[*osexec.ExitError](err); ran {
		t.Errorf("%s", out)
	} else if err != nil {
		skiptest.Lacks(t, "this machine gives no user namespace: %v", err)
	}
	return false
}

func mount(t *testing.T, dir string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o755))
	if err := syscall.Mount("none", dir, "tmpfs", 0, "size=256k,mode=755"); err != nil {
		skiptest.Lacks(t, "nothing can be mounted: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH) })
}

// A directory on which another file system is mounted gets everything, and a file that
// does not fit there leaves the old one as it was.
func TestMergeWithMount(t *testing.T) {
	if !mayMount(t) {
		return
	}
	for maker, p := range places(t) {
		for direction, copyOne := range ways(t) {
			t.Run(maker+" "+direction, func(t *testing.T) {
				p := place{t.TempDir(), p.path}
				here, there := t.TempDir(), p.home
				grow(t, filepath.Join(here, "src", "mnt", "new"))
				must(t, os.MkdirAll(filepath.Join(here, "src", "mnt", "deep"), 0o755),
					os.WriteFile(filepath.Join(here, "src", "mnt", "deep", "f"), []byte("new"), 0o600))
				mount(t, filepath.Join(there, "src", "mnt"))
				must(t, os.Mkdir(filepath.Join(there, "src", "mnt", "deep"), 0o750),
					os.WriteFile(filepath.Join(there, "src", "mnt", "deep", "f"), []byte("old"), 0o600))
				must(t, copyOne(p, here, "src", ""))
				if got, want := listing(t, filepath.Join(there, "src", "mnt", "new")),
					listing(t, filepath.Join(here, "src", "mnt", "new")); got != want {
					t.Errorf("%s\nwant\n%s", got, want)
				}
				inMount := filepath.Join(there, "src", "mnt", "deep", "f")
				if got, err := os.ReadFile(inMount); err != nil || string(got) != "new" {
					t.Errorf("%q, %v", got, err)
				}
				large := bytes.Repeat([]byte("x"), 1<<20)
				must(t, os.WriteFile(filepath.Join(here, "src", "mnt", "deep", "f"), large, 0o600))
				if err := copyOne(p, here, "src", ""); fault.CodeOf(err) != fault.Failed {
					t.Errorf("%v", err)
				}
				if got, err := os.ReadFile(inMount); err != nil || string(got) != "new" {
					t.Errorf("%d bytes, %v", len(got), err)
				}
				noLeftovers(t, there, filepath.Join(there, "src"), filepath.Join(there, "src", "mnt"),
					filepath.Join(there, "src", "mnt", "deep"))
			})
		}
	}
}
