//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// The workspace of a repository is made as its .k8shell.yaml says, at the ref that
// is asked for. The images of the test cluster have no git: that the repository
// is not cloned is said, and no failure.
func TestRepository(t *testing.T) {
	w := newWorld(t)
	remotes := t.TempDir()
	repository := filepath.Join(remotes, "org", "proj")
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", repository, "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	commit := func(blueprint string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(repository, ".k8shell.yaml"), []byte(blueprint), 0o600); err != nil {
			t.Fatal(err)
		}
		git("add", ".")
		git("commit", "--quiet", "--message", "blueprint")
	}
	if err := os.MkdirAll(repository, 0o700); err != nil {
		t.Fatal(err)
	}
	git("init", "--quiet", "--initial-branch", "main")
	commit("template: tiny\nenv: {COLOUR: green}\n")
	git("checkout", "--quiet", "-b", "Wild")
	commit("template: tiny\nsecurityContext: {privileged: true}\n")
	git("checkout", "--quiet", "main")

	configuration := "identity: {providers: [{kind: kubernetes}, {kind: git, url: 'file://" + remotes + "/{owner}/{name}'}]}\n"
	run := func(args ...string) result { return w.configured(configuration, args...) }
	made := run("provision", "alice~repo=org/proj", "-o", "json")
	made.mustBe(w, 0)
	doc := decode[v1.Workspace](w, made)
	if doc.Blueprint != "repo-org-proj" {
		t.Errorf("the blueprint is %q", doc.Blueprint)
	}
	if out := w.must(0, "exec", "alice~repo=org/proj", "--", "sh", "-c", "echo $COLOUR").stdout; strings.TrimSpace(out) != "green" {
		t.Errorf("the colour is %q", out)
	}
	w.contains(w.must(0, "logs", "alice~repo=org/proj").stdout, "not cloned, the image has no git: https://github.com/org/proj.git")
	// What only the platform may set is refused, whatever the branch.
	refused := run("provision", "alice~repo=org/proj+ref=Wild")
	refused.mustBe(w, 2)
	w.contains(refused.stderr, "securityContext")
	missing := run("provision", "alice~repo=org/nothing")
	missing.mustBe(w, 7)
	w.must(0, "delete", "alice~repo=org/proj")
	w.nothingIsLeft()
}
