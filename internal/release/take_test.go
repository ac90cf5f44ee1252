//go:build unix

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/skiptest"
)

const flag = "k8shell.repository-1234567"

// begin starts a workspace: the container that clones, then the workspace's own,
// which has no credentials.
func (w workspace) begin() (helper, log string, err error) {
	w.Helper()
	if err := os.MkdirAll(filepath.Join(w.k8shell, "repository"), 0o755); err != nil {
		w.Fatal(err)
	}
	helper, err = w.script("init-repository.sh", flag, w.home)
	if err != nil {
		w.Errorf("init-repository ends with %v: %s", err, helper)
	}
	secret, aside := filepath.Join(w.k8shell, "git"), filepath.Join(w.TempDir(), "git")
	if err := os.Rename(secret, aside); err == nil {
		defer func() { _ = os.Rename(aside, secret) }()
	}
	log, err = w.script("take.sh")
	return helper, log, err
}

func (w workspace) kept() string { return filepath.Join(w.k8shell, "repository", "kept") }

// The repository gets into the home directory, where that is in a storage and where
// it is not, and nothing else does.
func TestRepositoryIsTaken(t *testing.T) {
	for name, inStorage := range map[string]bool{"in a storage": true, "in the container": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorkspace(t)
			kept := ""
			if !inStorage {
				kept = w.kept()
			}
			w.configure("file://"+w.origin, "Feature/x", kept)
			_, log, err := w.begin()
			if err != nil || w.content() != "branch" ||
				!strings.Contains(log, "cloned file://"+w.origin+" at Feature/x to proj") {
				t.Fatalf("%v, %q:\n%s", err, w.content(), log)
			}
			if out, err := w.sh("git", "-C", "proj", "status", "--porcelain"); err != nil || out != "" {
				t.Errorf("git status: %v %s", err, out)
			}
			w.holds(w.home, "proj")
			if target, err := os.Readlink(filepath.Join(w.home, "proj")); (err == nil) == inStorage || !inStorage &&
				target != filepath.Join(kept, "proj") {
				t.Errorf("it is a link to %q, %v", target, err)
			}
			w.write(filepath.Join(w.home, "proj", "file"), "mine")
			if !inStorage { // a new container
				w.home = t.TempDir()
				if log, err := w.script("take.sh"); err != nil || log != "" {
					t.Errorf("%v: %s", err, log)
				}
			}
			helper, log, err := w.begin() // a new pod
			if err != nil || w.content() != "mine" || !strings.Contains(helper, "has been cloned before") {
				t.Errorf("again: %v, %q:\n%s%s", err, w.content(), helper, log)
			}
		})
	}
}

// holds fails the test unless a directory has this one entry.
func (w workspace) holds(dir, name string) {
	w.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 || entries[0].Name() != name {
		w.Errorf("%s holds %v, %v, want %s alone", dir, entries, err, name)
	}
}

// What a user has deleted is not cloned again: an init script is run once.
func TestRepositoryIsTakenOnce(t *testing.T) {
	w := newWorkspace(t)
	w.configure("file://"+w.origin, "", "")
	w.write(filepath.Join(w.home, ".k8shell", "flags", flag), "")
	if helper, err := w.script("init-repository.sh", flag, w.home); err != nil ||
		!strings.Contains(helper, "has been cloned before") {
		t.Errorf("%v: %s", err, helper)
	}
}

// A home directory that root without capabilities, which clones where no user is
// named, cannot look into is not cloned for again; one that is not there yet is.
func TestRepositoryOfAPrivateHome(t *testing.T) {
	if os.Getuid() != 0 {
		skiptest.Lacks(t, "only root can give directories to other users")
	}
	for name, test := range map[string]struct {
		private, home string // below the storage
		cloned        bool
	}{
		"the home":          {"", "", false},
		"below the storage": {"dev", "dev", false},
		"in another's":      {"", "dev", false},
		"beside another's":  {"dev", "new", true},
	} {
		for _, shell := range [][]string{{"/bin/sh"}, {"busybox", "sh"}} { // whose tests do not ask in the same way
			t.Run(name+" in "+shell[0], func(t *testing.T) {
				for _, program := range []string{"setpriv", shell[0]} {
					if _, err := exec.LookPath(program); err != nil {
						skiptest.Lacks(t, "%v", err)
					}
				}
				w := newWorkspace(t)
				w.configure("file://"+w.origin, "", "")
				w.write(filepath.Join(w.home, test.home, "proj", "file"), "mine")
				if test.cloned {
					w.write(filepath.Join(w.home, test.private, "file"), "")
					if err := os.RemoveAll(filepath.Join(w.home, test.home)); err != nil {
						t.Fatal(err)
					}
				}
				if out, err := w.sh("/bin/sh", "-ec", `mkdir "$1/repository"; chown -R 4711 .; chmod 755 .; `+
					`chmod 700 "./$2"`,
					"sh", w.k8shell, test.private); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
				run := append([]string{"--bounding-set=-all", "--inh-caps=-all"}, shell...)
				out, err := w.sh("setpriv", append(run, filepath.Join(w.k8shell, "runtime", "init-repository.sh"), flag,
					filepath.Join(w.home, test.home))...)
				const says = "user 0 cannot look into the home directory: proj has probably been cloned before"
				_, missing := os.Stat(filepath.Join(w.k8shell, "repository", "clone", "proj"))
				if err != nil || (missing == nil) != test.cloned || strings.Contains(out, says) == test.cloned {
					t.Fatalf("%v, %v: %s", err, missing, out)
				}
				w.home = t.TempDir() // it had no proj
				if log, err := w.script("take.sh"); (err == nil) != test.cloned ||
					strings.Contains(log, says) == test.cloned {
					t.Errorf("%v: %s", err, log)
				}
			})
		}
	}
}

// as runs a program as another user, with no rights.
func (w workspace) as(uid uint32, name string, args ...string) (string, error) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), name, args...)
	cmd.Dir = w.home
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + w.home, "GIT_CONFIG_NOSYSTEM=1", "K8SHELL_DIR=" +
		w.k8shell}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The repository becomes the property of the workspace's user, no matter who cloned it, so
// that git trusts it.
func TestRepositoryGetsItsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		skiptest.Lacks(t, "only root can run programs as other users")
	}
	const helper, user = 65534, 4711
	for _, inStorage := range []bool{true, false} {
		w := newWorkspace(t)
		kept := ""
		if !inStorage {
			kept = w.kept()
		}
		w.configure(w.serve("", "")+"/proj.git", "", kept)
		if out, err := w.sh("/bin/sh", "-ec",
			`mkdir "$1/repository"; chmod -R a+rX "$1" "$2"; chmod a+x "${2%/*}"; chmod 777 `+
				`"$1/repository"; chown "$3" .`,
			"sh", w.k8shell, w.home, strconv.Itoa(user)); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if out, err := w.as(helper, "/bin/sh", filepath.Join(w.k8shell, "runtime", "init-repository.sh"), flag,
			w.home); err != nil || !strings.Contains(out, "cloned") {
			t.Fatalf("%v: %s", err, out)
		}
		if out, err := w.as(user, "/bin/sh", filepath.Join(w.k8shell, "runtime", "take.sh")); err != nil ||
			w.content() != "main" {
			t.Fatalf("%v, %q: %s", err, w.content(), out)
		}
		w.write(filepath.Join(w.home, "proj", "file"), "mine")
		if out, err := w.as(user, "git", "-C", "proj", "status", "--porcelain"); err != nil ||
			strings.TrimSpace(out) != "M file" {
			t.Errorf("git status: %v: %s", err, out)
		}
		if found, err := w.sh("find", "-L", "proj", "!", "-user", strconv.Itoa(user)); err != nil || found != "" {
			t.Errorf("not the user's: %v: %s", err, found)
		}
	}
}

// A clone that fails costs the repository, not the workspace: its log says why, what
// is half there is not taken for a whole, and the next start tries again.
func TestRepositoryIsMissing(t *testing.T) {
	w := newWorkspace(t)
	w.configure("file:///does/not/exist.git", "", w.kept())
	_, log, err := w.begin()
	if err == nil || !strings.Contains(log, "cannot clone file:///does/not/exist.git") ||
		!strings.Contains(log, "there is no proj") {
		t.Errorf("%v: %s", err, log)
	}
	if entries, err := os.ReadDir(w.home); err != nil || len(entries) > 0 {
		t.Errorf("the home directory has %v, %v", entries, err)
	}
	w.write(filepath.Join(w.kept(), ".proj.partial", "half"), "")
	w.configure("file://"+w.origin, "", w.kept())
	if _, log, err := w.begin(); err != nil || w.content() != "main" {
		t.Errorf("%v, %q: %s", err, w.content(), log)
	}
	w.holds(w.kept(), "proj")
}

// What the workspace has left where the clone is made, for git to run, is not there
// any more when it does.
func TestRepositoryIsClonedIntoNothing(t *testing.T) {
	w := newWorkspace(t)
	w.configure("file://"+w.origin, "", w.kept())
	volume, trap := filepath.Join(w.k8shell, "repository"), filepath.Join(t.TempDir(), "trapped")
	for _, dir := range []string{
		volume, filepath.Join(volume, "clone"),
		filepath.Join(volume, "clone", ".proj.partial"),
	} {
		w.write(filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
		w.write(filepath.Join(dir, ".git", "config"),
			"[core]\n\trepositoryformatversion = 0\n\tfsmonitor = touch "+trap+
				"\n[credential]\n\thelper = !touch "+trap+"\n")
		for _, empty := range []string{"objects", "refs"} {
			if err := os.MkdirAll(filepath.Join(dir, ".git", empty), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Symlink("/dev/full", filepath.Join(volume, "log")); err != nil {
		t.Fatal(err)
	}
	if _, log, err := w.begin(); err != nil || w.content() != "main" {
		t.Errorf("%v, %q: %s", err, w.content(), log)
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("git ran what it found")
	}
}

// A private repository is cloned, and its password is nowhere that the workspace
// can see; unless it is handed over, for git to push with.
func TestCredentialsStayApart(t *testing.T) {
	w := newWorkspace(t)
	server := w.serve("alice", "hunter2")
	w.configure(server+"/proj.git", "", w.kept())
	w.write(filepath.Join(w.k8shell, "git", "username"), "alice")
	w.write(filepath.Join(w.k8shell, "git", "password"), "hunter2")
	helper, log, err := w.begin()
	if err != nil || w.content() != "main" {
		t.Fatalf("%v, %q: %s", err, w.content(), log)
	}
	for _, dir := range []string{w.home, filepath.Join(w.k8shell, "repository"), filepath.Join(w.k8shell, "runtime")} {
		if found, _ := w.sh("grep", "-r", "hunter2", dir); found != "" {
			t.Errorf("the password is in %s", found)
		}
	}
	if strings.Contains(helper+log, "hunter2") {
		t.Errorf("the password is logged: %s%s", helper, log)
	}
	fetch := func(env ...string) (string, error) {
		return w.sh("/usr/bin/env", append(env, "GIT_TERMINAL_PROMPT=0", "git", "-C", "proj", "fetch", "origin",
			"v1")...)
	}
	if out, err := fetch(); err == nil {
		t.Errorf("git fetches without credentials: %s", out)
	}
	if out, err := fetch("GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential."+server+".helper",
		"GIT_CONFIG_VALUE_0=!/bin/sh "+filepath.Join(w.k8shell, "runtime", "credentials.sh")); err != nil {
		t.Errorf("git does not use what it is handed: %v: %s", err, out)
	}
}
