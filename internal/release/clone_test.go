//go:build unix

package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workspace is a directory as the clone script finds it in a workspace.
type workspace struct {
	*testing.T
	k8shell, home, origin string
}

// newWorkspace has a repository beside it, with a branch, a tag, and a commit
// that only a ref of its own leads to.
func newWorkspace(t *testing.T) workspace {
	t.Helper()
	w := workspace{T: t, k8shell: t.TempDir(), home: t.TempDir(), origin: filepath.Join(t.TempDir(), "proj.git")}
	for _, file := range []string{"start.sh", "clone.sh", "credentials.sh", "init-repository.sh", "take.sh"} {
		text, err := charts.ReadFile("chart/" + ChartName + "/runtime/" + file)
		if err != nil {
			t.Fatal(err)
		}
		w.write(filepath.Join(w.k8shell, "runtime", file), string(text))
	}
	script := `set -e
git init -q -b main "$1"
cd "$1"
git config user.name test
git config user.email test@example.com
git config uploadpack.allowAnySHA1InWant true
commit() { echo "$1" >file; git add file; git commit -q -m "$1"; }
commit first; git tag v1
commit main
git checkout -q -b Feature/x; commit branch
git checkout -q --detach; commit pull; git update-ref refs/pull/7/head HEAD
git checkout -q main`
	if out, err := w.sh("/bin/sh", "-c", script, "sh", w.origin); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return w
}

func (w workspace) write(path, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.Fatal(err)
	}
}

func (w workspace) sh(name string, args ...string) (string, error) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), name, args...)
	cmd.Dir = w.home
	cmd.Env = append(os.Environ(), "HOME="+w.home, "GIT_CONFIG_NOSYSTEM=1", "K8SHELL_DIR="+w.k8shell)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// configure writes what the scripts read.
func (w workspace) configure(url, ref, kept string) {
	w.Helper()
	for file, text := range map[string]string{"url": url, "ref": ref, "name": "proj", "kept": kept} {
		w.write(filepath.Join(w.k8shell, "runtime", "repository."+file), text)
	}
}

// script runs one as a workspace does.
func (w workspace) script(name string, args ...string) (string, error) {
	w.Helper()
	return w.sh("/bin/sh", append([]string{filepath.Join(w.k8shell, "runtime", name)}, args...)...)
}

// clone clones into the home directory, as in an injected workspace.
func (w workspace) clone(url, ref string) (string, error) {
	w.Helper()
	w.configure(url, ref, "")
	return w.script("clone.sh")
}

func (w workspace) content() string {
	text, _ := os.ReadFile(filepath.Join(w.home, "proj", "file"))
	return strings.TrimSpace(string(text))
}

func TestCloneAtARef(t *testing.T) {
	origin := newWorkspace(t)
	commit, err := origin.sh("git", "-C", origin.origin, "rev-parse", "v1")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"": "main", "main": "main", "Feature/x": "branch", "v1": "first", strings.TrimSpace(commit): "first",
		"refs/pull/7/head": "pull",
	} {
		w := origin
		w.T, w.home = t, t.TempDir()
		out, err := w.clone("file://"+w.origin, ref)
		if err != nil || w.content() != want || !strings.Contains(out, "repository: cloned") {
			t.Errorf("at %q there is %q, want %q: %v\n%s", ref, w.content(), want, err, out)
		}
		if left, _ := filepath.Glob(filepath.Join(w.home, ".*.partial")); len(left) > 0 {
			t.Errorf("at %q something is left: %s", ref, left)
		}
	}
	// A branch is checked out, so that commits go to it.
	w := origin
	w.T, w.home = t, t.TempDir()
	if out, err := w.clone("file://"+w.origin, "Feature/x"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if head, _ := w.sh("git", "-C", "proj", "symbolic-ref", "--short", "HEAD"); strings.TrimSpace(head) != "Feature/x" {
		t.Errorf("HEAD is %s", head)
	}
}

func TestCloneLeavesWhatIsThere(t *testing.T) {
	w := newWorkspace(t)
	w.write(filepath.Join(w.home, "proj", "file"), "mine")
	if out, err := w.clone("file://"+w.origin, ""); err != nil || w.content() != "mine" ||
		!strings.Contains(out, "already") {
		t.Errorf("%v %s: %s", err, w.content(), out)
	}
}

// What an interrupted run left is started from scratch.
func TestCloneAfterOneThatWasCutOff(t *testing.T) {
	w := newWorkspace(t)
	w.write(filepath.Join(w.home, ".proj.partial", "half"), "")
	if out, err := w.clone("file://"+w.origin, ""); err != nil || w.content() != "main" {
		t.Errorf("%v %s: %s", err, w.content(), out)
	}
}

// A clone that fails exits with an error and is tried again at the next start.
func TestCloneFails(t *testing.T) {
	w := newWorkspace(t)
	for _, bad := range [][3]string{
		{
			"file:///does/not/exist.git", "",
			"cannot clone file:///does/not/exist.git (see git's output above); the next start of the " +
				"workspace tries again\n",
		},
		{"file://" + w.origin, "no-such-ref", w.origin +
			" at no-such-ref (see git's output above); the next start of the workspace tries again\n"},
		{"file://" + w.origin, "--upload-pack=touch x", "invalid ref: --upload-pack=touch x\n"},
	} {
		if out, err := w.clone(bad[0], bad[1]); err == nil || !strings.Contains(out, bad[2]) {
			t.Errorf("%s: %v: %s", bad, err, out)
		}
		if left, err := os.ReadDir(w.home); err != nil || len(left) > 0 {
			t.Errorf("%s: something is there: %v %v", bad, left, err)
		}
	}
}

func TestCloneWithoutGit(t *testing.T) {
	w := newWorkspace(t)
	w.configure("https://git.example.com/org/proj.git", "", "")
	bin := t.TempDir()
	if err := os.Symlink("/bin/cat", filepath.Join(bin, "cat")); err != nil {
		t.Fatal(err)
	}
	out, err := w.sh("/usr/bin/env", "PATH="+bin, "/bin/sh", filepath.Join(w.k8shell, "runtime", "clone.sh"))
	if err != nil || !strings.Contains(out, "git is not installed in the image: https://git.example.com/org/proj.git") {
		t.Errorf("%v: %s", err, out)
	}
}

// A private repository is cloned with the credentials of its host, which are in
// no argument and not in the clone; another host gets none.
func TestCloneWithCredentials(t *testing.T) {
	w := newWorkspace(t)
	server := w.serve("alice", "hunter2")
	if out, err := w.clone(server+"/proj.git", ""); err == nil {
		t.Fatalf("without credentials it is cloned: %s", out)
	}
	w.write(filepath.Join(w.k8shell, "git", "username"), "alice")
	w.write(filepath.Join(w.k8shell, "git", "password"), "hunter2")
	out, err := w.clone(server+"/proj.git", "Feature/x")
	if err != nil || w.content() != "branch" {
		t.Fatalf("%v %s: %s", err, w.content(), out)
	}
	found, _ := w.sh("grep", "-r", "hunter2", ".")
	if found != "" || strings.Contains(out, "hunter2") {
		t.Errorf("the password is in %s%s", found, out)
	}
}
