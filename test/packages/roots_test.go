package packages

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/berthdev/berth/internal/skiptest"
)

// root is the directory of a system of its own.
type root string

// user is as whom berth is installed and used in a root.
const user = 1000

// debianVariable names a directory with a new Debian and curl, which is copied then and not made.
const debianVariable = "BERTH_TEST_DEBIAN"

// debian is a new Debian, with curl.
func debian(t *testing.T) root {
	t.Helper()
	made := os.Getenv(debianVariable)
	if made == "" {
		needs(t, "debootstrap")
		var err error
		if made, err = bootstrapped(); err != nil {
			t.Fatal(err)
		}
	}
	r := root(filepath.Join(t.TempDir(), "debian"))
	// Linked: a file that changes is replaced, by dpkg too, but for logs.
	run(t, "cp", "-al", made, string(r))
	r.addUser(t)
	return r
}

// bootstrapped makes a Debian once for all tests, which copy it.
var bootstrapped = sync.OnceValues(func() (string, error) {
	dir := filepath.Join(rootsDir, "debian")
	args := []string{"--variant=minbase", "--include=curl", "stable", dir, "http://deb.debian.org/debian"}
	out, err := exec.Command("debootstrap", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("debootstrap: %w\n%s", err, out)
	}
	return dir, nil
})

// rootsDir is where roots are made that several tests copy.
var rootsDir string

func TestMain(m *testing.M) {
	var err error
	if rootsDir, err = os.MkdirTemp("", "berth-roots-"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(rootsDir)
	os.Exit(status)
}

// alpine is a root with the programs of Alpine's: busybox and nothing else, so no bash, no curl and no libc. apk is not
// there, which Debian does not have, and neither is musl, which nothing would use.
func alpine(t *testing.T) root {
	t.Helper()
	needs(t, "busybox")
	r := root(filepath.Join(t.TempDir(), "busybox"))
	for _, dir := range []string{"bin", "dev", "etc", "usr/bin", "root"} {
		if err := os.MkdirAll(r.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(r.path("tmp"), 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(r.path("tmp"), 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		t.Fatal(err)
	}
	run(t, "cp", busybox, r.path("bin/busybox"))
	if out, err := r.command("/bin/busybox", "--install", "-s", "/bin").CombinedOutput(); err != nil {
		skiptest.Lacks(t, "the busybox of this machine does not run alone; Debian's busybox-static does: %v\n%s",
			err, out)
	}
	run(t, "mknod", "-m", "666", r.path("dev/null"), "c", "1", "3")
	r.addUser(t)
	return r
}

// addUser makes a home directory of a user without rights.
func (r root) addUser(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(r.path("home"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(r.path("home/dev"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(r.path("home/dev"), user, user); err != nil {
		t.Fatal(err)
	}
}

// path is where a file of the root is on this machine.
func (r root) path(elements ...string) string {
	return filepath.Join(string(r), filepath.Join(elements...))
}

// command is a program of the root, as root, with no more of this machine's environment than its own has.
func (r root) command(args ...string) *exec.Cmd {
	return r.as("0:0", args...)
}

// as is a program of the root, as a user.
func (r root) as(who string, args ...string) *exec.Cmd {
	cmd := exec.Command("chroot", append([]string{"--userspec=" + who, string(r)}, args...)...)
	cmd.Env = []string{
		"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C",
		"DEBIAN_FRONTEND=noninteractive",
	}
	return cmd
}

// must runs a program of the root, as root, which has to succeed.
func (r root) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := r.command(args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// files are the files of the root and what they are, but for what its package manager and its logs write.
func (r root) files(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(string(r), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(path, string(r))
		if slices.Contains([]string{"/var/lib/dpkg", "/var/lib/rpm", "/var/log", "/usr/lib/sysimage/rpm"}, name) {
			return fs.SkipDir
		}
		if !d.IsDir() {
			info, err := d.Info()
			if err != nil {
				return err
			}
			files[name] = info.Mode().String() + info.ModTime().String()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// needsRoot skips a test that cannot change its root directory.
func needsRoot(t *testing.T) {
	t.Helper()
	snapshot(t)
	if os.Getuid() != 0 {
		skiptest.Lacks(t, "only root may make roots: sudo make test-packages")
	}
}
