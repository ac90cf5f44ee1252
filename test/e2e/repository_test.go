//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// The workspace of a repository is made as its .k8shell.yaml says, at the ref that
// is asked for. A repository that cannot be reached is reported, and is not a failure.
func TestRepository(t *testing.T) {
	w := newWorld(t)
	r := w.repositories()
	r.create("org/proj", "template: tiny\nenv: {COLOUR: green}\n")
	r.git("org/proj", "checkout", "--quiet", "-b", "Wild")
	r.commit("org/proj", "template: tiny\nsecurityContext: {privileged: true}\nhelperImage: evil.example.com/x\n")
	r.git("org/proj", "checkout", "--quiet", "-b", "Over", "main")
	r.commit("org/proj", "template: tiny\nstorages:\n  a: {type: emptyDir, path: /bin, fsOwnerUid: 0}\n"+
		"  b: {type: emptyDir, path: /k8shell/runtime}\n  c: {type: emptyDir, path: /home/../etc}\n"+
		"  d: {type: local, path: /data, existingClaim: of-others, fsOwnerUid: 1000}\n")
	r.git("org/proj", "checkout", "--quiet", "main")

	configuration := "identity: {providers: [{kind: kubernetes}, {kind: git, url: 'file://" + r.dir +
		"/{owner}/{name}.git'}]}\n" +
		"repositories: {url: 'http://127.0.0.1:1/{owner}/{name}.git'}\n"
	run := func(args ...string) result { return w.configured(configuration, args...) }
	made := run("provision", "alice~repo=org/proj", "-o", "json")
	made.mustBe(w, 0)
	doc := decode[v1.Workspace](w, made)
	if doc.Blueprint != "repo-org-proj" {
		t.Errorf("the blueprint is %q", doc.Blueprint)
	}
	if out := w.must(0, "exec", "alice~repo=org/proj", "--", "sh", "-c", "echo $COLOUR").
		stdout; strings.TrimSpace(out) != "green" {
		t.Errorf("the colour is %q", out)
	}
	w.contains(w.must(0, "logs", "alice~repo=org/proj").stdout, "cannot clone http://127.0.0.1:1/org/proj.git",
		"there is no proj in the home directory", "workspace: ready")
	// What only the platform may set is refused, whatever the branch.
	refused := run("provision", "alice~repo=org/proj+ref=Wild")
	refused.mustBe(w, 2)
	w.contains(refused.stderr, "securityContext", "helperImage")
	refused = run("provision", "alice~repo=org/proj+ref=Over")
	refused.mustBe(w, 2)
	w.contains(refused.stderr, `storages.a.path: "/bin" is not available to users`,
		`storages.b.path: "/k8shell/runtime" would hide`, `storages.c.path: invalid path`,
		`storages.d.fsOwnerUid: only the platform gives away`)
	missing := run("provision", "alice~repo=org/nothing")
	missing.mustBe(w, 7)
	w.must(0, "delete", "alice~repo=org/proj")
	w.nothingIsLeft()
}

// A private repository is cloned at a ref, whose case counts, with the password
// that is configured; which is nowhere but in the Secret, and goes with the
// workspace.
func TestRepositoryIsCloned(t *testing.T) {
	w := newWorld(t)
	r := w.repositories()
	r.create("org/proj", "template: tiny\n")
	r.git("org/proj", "checkout", "--quiet", "-b", "Feature/X")
	r.commit("org/proj", "template: with-git\n")
	r.git("org/proj", "checkout", "--quiet", "main")
	const user = "alice~repo=org/proj+ref=Feature/X"
	id := w.idOf(user)
	before := w.leftovers()
	address := r.serve()
	var said strings.Builder
	run := func(args ...string) result {
		t.Helper()
		done := w.configured(r.configuration(address, gitPassword), args...)
		if done.status != 0 {
			t.Logf("what was said before:\n%s", said.String())
		}
		done.mustBe(w, 0)
		said.WriteString(done.stdout + done.stderr)
		return done
	}
	w.contains(run("provision", user, "--dry-run=server").stdout, "# create secret/"+id+"-git")
	w.contains(run("provision", user, "--timing", "-o", "jsonl").stdout, `"stage":"Running"`)
	log := run("exec", user, "--", "git", "-C", "/root/proj", "log", "-1", "--format=%H %D").stdout
	if want := r.git("org/proj", "rev-parse", "Feature/X") +
		" HEAD -> Feature/X, origin/Feature/X"; strings.TrimSpace(log) != want {
		t.Errorf("the clone is at %q, want %q", log, want)
	}
	w.contains(run("logs", user).stdout, "cloned "+address+"/org/proj.git at Feature/X to proj")
	run("resolve", user, "-o", "json")
	run("status", user, "-o", "json")
	run("diagnose", user)
	run("jobs", "-o", "json")
	w.ownedByTheWorkspace(id + "-git")
	said.WriteString(w.helm("get", "all", id))
	said.WriteString(w.everythingBut(id + "-git"))
	// Nor is it where the user would commit or copy it.
	if found := w.berth("exec", user, "--", "grep", "-r", gitPassword, "/root", "/tmp"); found.status != 1 {
		t.Errorf("exit status %d of grep: %s%s", found.status, found.stdout, found.stderr)
	}
	for _, secret := range []string{gitPassword, base64.StdEncoding.EncodeToString([]byte(gitPassword))} {
		if at := strings.Index(said.String(), secret); at >= 0 {
			t.Errorf("the password is shown: …%s", said.String()[max(0, at-300):at])
		}
	}
	w.must(0, "delete", user)
	w.eventually("nothing is left", func() bool {
		return slices.Equal(w.leftovers(), append([]string{"pod/git", "service/git"}, before...))
	})
}

// A password that is refused costs the repository, not the workspace, and the
// log says why.
func TestRepositoryIsNotCloned(t *testing.T) {
	w := newWorld(t)
	r := w.repositories()
	r.create("org/proj", "template: with-git\ninitScripts: [{name: next, script: 'touch /tmp/next'}]\n")
	address := r.serve()
	const wrong, user = "battery-staple", "alice~repo=org/proj"
	run := func(args ...string) result { return w.configured(r.configuration(address, wrong), args...) }
	made := run("provision", user)
	made.mustBe(w, 0)
	w.contains(made.stderr, "Running")
	log := run("logs", user).stdout
	w.contains(log, "Authentication failed for '"+address+"/org/proj.git/'", "repository: cannot clone "+address+
		"/org/proj.git (see git's output above)",
		"ended with status 1", "workspace: ready")
	// What came after it was run, and nothing half-done is left.
	w.must(0, "exec", user, "--", "sh", "-ec", "test -e /tmp/next; cd; test -z \"$(ls -d *proj* .proj* 2>/dev/null)\"")
	if strings.Contains(made.stdout+made.stderr+log, wrong) {
		t.Errorf("the password is shown:\n%s%s", made.stderr, log)
	}
	// With the right one, the workspace is created again and has it.
	run("delete", user).mustBe(w, 0)
	w.configured(r.configuration(address, gitPassword), "provision", user).mustBe(w, 0)
	w.must(0, "exec", user, "--", "test", "-e", "/root/proj/.k8shell.yaml")
}

// A home directory that outlives the container or the workspace keeps what was
// worked on: the repository is cloned once. Another repository is another
// matter, in the same home directory, too.
func TestRepositoryIsClonedOnce(t *testing.T) {
	w := newWorld(t)
	r := w.repositories()
	r.create("org/proj", "template: at-home\n")
	r.create("org/other", "template: at-home\n")
	address := r.serve()
	run := func(args ...string) result {
		t.Helper()
		done := w.configured(r.configuration(address, gitPassword), args...)
		done.mustBe(w, 0)
		return done
	}
	const user, other = "alice~repo=org/proj", "alice~repo=org/other"
	id := w.idOf(user)
	work := func() {
		t.Helper()
		log := run("logs", user).stdout
		if out := w.must(0, "exec", user, "--", "cat", "/home/dev/proj/.k8shell.yaml").
			stdout; strings.TrimSpace(out) != "mine" {
			t.Errorf("the work is %q; the log:\n%s", out, log)
		}
		if strings.Contains(log, "repository: ") || !strings.Contains(log, "workspace: ready") {
			t.Errorf("it was cloned again:\n%s", log)
		}
	}
	run("provision", user)
	w.contains(run("logs", user).stdout, "repository: cloned "+address+"/org/proj.git to proj")
	w.must(0, "exec", user, "--", "sh", "-ec",
		"cd ~/proj; git status --porcelain; echo mine >.k8shell.yaml; ls ~/.k8shell/flags | grep "+
			"'^k8shell.repository-'")
	w.berth("exec", user, "--", "kill", "1") // ends with the container, with whatever status
	w.eventually("the container has started again", func() bool {
		pod := w.pod(id)
		return pod != nil && pod.Status.ContainerStatuses[0].RestartCount == 1 && pod.Status.ContainerStatuses[0].Ready
	})
	work()
	run("stop", user)
	run("start", user)
	work()
	run("delete", user)
	run("provision", user)
	work()
	w.contains(run("logs", user, "--container", "init-repository").stdout, "proj has been cloned before")
	run("provision", other)
	w.contains(run("logs", other).stdout, "repository: cloned "+address+"/org/other.git to other")
	w.must(0, "exec", other, "--", "test", "-e", "/home/dev/other/.k8shell.yaml")
	run("delete", user)
	run("delete", other)
	w.eventually("only the home directory is left", func() bool {
		return slices.Equal(w.leftovers(), []string{"pod/git", "service/git", "persistentvolumeclaim/pvc-home"})
	})
}

// A home directory that its user closes to everybody else is looked into by the
// container that clones, which is that user where no other is named.
func TestRepositoryInAPrivateHome(t *testing.T) {
	w := newWorld(t)
	r := w.repositories()
	r.create("org/proj", "template: given\n")
	configuration := r.configuration(r.serve(), gitPassword)
	const user = "alice~repo=org/proj"
	for _, says := range []string{"repository: cloned ", "proj has been cloned before"} {
		w.configured(configuration, "provision", user).mustBe(w, 0)
		w.must(0, "exec", user, "--", "sh", "-ec",
			"test -e ~/proj/.k8shell.yaml; chmod 700 ~; test \"$(stat -c %u:%a ~)\" = 1000:700")
		w.contains(w.must(0, "logs", user, "--container", "init-repository").stdout, says)
		w.configured(configuration, "delete", user).mustBe(w, 0)
	}
}

// ownedByTheWorkspace fails the test unless the Secret is deleted with the
// workspace, however that is removed.
func (w *world) ownedByTheWorkspace(secret string) {
	w.Helper()
	object, err := w.CoreV1().Secrets(w.namespace).Get(w.Context(), secret, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	if string(object.Data["username"]) != gitUser || string(object.Data["password"]) != gitPassword ||
		object.Type != corev1.SecretTypeBasicAuth {
		w.Errorf("the Secret is of type %s and has other credentials than are configured", object.Type)
	}
	if owners := object.OwnerReferences; len(owners) != 1 || owners[0].Kind != "ConfigMap" {
		w.Errorf("the Secret is owned by %+v", owners)
	}
}

// everythingBut is all that can be read of the namespace, but for one Secret and
// what helm keeps in a form of its own.
func (w *world) everythingBut(secret string) string {
	w.Helper()
	core, all := w.CoreV1(), metav1.ListOptions{}
	pods, err := core.Pods(w.namespace).List(w.Context(), all)
	services, serviceErr := core.Services(w.namespace).List(w.Context(), all)
	maps, mapErr := core.ConfigMaps(w.namespace).List(w.Context(), all)
	events, eventErr := core.Events(w.namespace).List(w.Context(), all)
	secrets, secretErr := core.Secrets(w.namespace).List(w.Context(), all)
	if err := errors.Join(err, serviceErr, mapErr, eventErr, secretErr); err != nil {
		w.Fatal(err)
	}
	// the server knows it
	pods.Items = slices.DeleteFunc(pods.Items, func(p corev1.Pod) bool { return p.Name == "git" })
	secrets.Items = slices.DeleteFunc(secrets.Items, func(s corev1.Secret) bool { return s.Name == secret })
	text, err := json.Marshal([]any{pods, services, maps, events, secrets})
	if err != nil {
		w.Fatal(err)
	}
	return string(text)
}
