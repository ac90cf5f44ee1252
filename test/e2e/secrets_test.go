//go:build e2e

package e2e

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// search is a repository's init script that is after the credentials that the
// repository was cloned with.
const search = `
exec >/tmp/found 2>&1
cat /k8shell/git/password
cat /k8shell/git/*
env
cat /proc/[0-9]*/environ
git config --list --show-origin
cat ~/proj/.git/config
find / \( -path /proc -o -path /sys \) -prune -o -name password -print -o -name username -print
grep -rs "correct-hors[e]" /k8shell /root /home /tmp/x /etc /run /var
true
`

// The image and the scripts of a private repository do not get at the credentials
// that it is cloned with, wherever they look. The image needs no git.
func TestCredentialsStayOutOfTheWorkspace(t *testing.T) {
	w := newWorld(t)
	r := w.repositories()
	script := strings.ReplaceAll(strings.TrimSpace(search), "\n", "\n    ")
	r.create("org/proj", "template: tiny\ninitScripts:\n- name: search\n  script: |\n    "+script+"\n")
	address := r.serve()
	const user = "alice~repo=org/proj"
	w.configured(r.configuration(address, gitPassword), "provision", user).mustBe(w, 0)
	w.must(0, "exec", user, "--", "test", "-e", "/root/proj/.k8shell.yaml")
	found := w.must(0, "exec", user, "--", "cat", "/tmp/found").stdout
	w.contains(found, "can't open '/k8shell/git/password'", "PATH=")
	for line := range strings.Lines(found) {
		if strings.Contains(line, gitPassword) || strings.HasPrefix(line, "/") &&
			strings.HasSuffix(strings.TrimSpace(line), "/password") {
			t.Errorf("the script found %q", line)
		}
	}
	pod := w.pod(w.idOf(user))
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		for _, m := range c.VolumeMounts {
			if m.Name == "git" && c.Name != "init-repository" {
				t.Errorf("%s mounts the credentials", c.Name)
			}
		}
		if c.Name == "init-repository" && c.Image != "registry.example.com/berth/workspace:git" {
			t.Errorf("it is cloned with %s", c.Image)
		}
	}
	// What is worked on outlives the container.
	w.must(0, "exec", user, "--", "sh", "-c", "echo mine >~/proj/mine")
	w.berth("exec", user, "--", "kill", "1") // ends with the container, with whatever status
	w.eventually("the container has started again", func() bool {
		pod := w.pod(pod.Name)
		return pod != nil && pod.Status.ContainerStatuses[0].RestartCount == 1 && pod.Status.ContainerStatuses[0].Ready
	})
	if out := w.must(0, "exec", user, "--", "sh", "-c", "cat ~/proj/mine").stdout; out != "mine\n" {
		t.Errorf("the work is %q", out)
	}
}

// Anyone who says so in their own configuration can push from inside, and is told
// what that means.
func TestCredentialsInTheWorkspace(t *testing.T) {
	w := newWorld(t)
	r := w.repositories()
	r.create("org/proj", "template: with-git\n")
	address := r.serve()
	const user = "alice~repo=org/proj"
	askServer := func() result {
		return w.berth("exec", user, "--", "env", "GIT_TERMINAL_PROMPT=0", "git", "-C", "/root/proj", "ls-remote",
			"origin")
	}
	w.configured(r.configuration(address, gitPassword), "provision", user).mustBe(w, 0)
	if without := askServer(); without.status == 0 {
		t.Errorf("the server answers without credentials: %s", without.stdout)
	}
	w.must(0, "delete", user)
	made := w.configured(r.handingOver(address, gitPassword), "provision", user)
	made.mustBe(w, 0)
	w.contains(made.stderr, "the credentials of "+address+" are in the workspace",
		"everything that runs there can read them")
	with := askServer()
	with.mustBe(w, 0)
	w.contains(with.stdout, "refs/heads/main")
	if strings.Contains(made.stdout+made.stderr, gitPassword) {
		t.Error("the password is shown")
	}
}

// An injected workspace has no Secrets: it says what it does without, and the
// workload gets no container that its own would wait for.
func TestInjectedRepository(t *testing.T) {
	w := newWorld(t)
	r := w.repositories()
	r.create("org/proj", "template: with-git\n")
	address := r.serve()
	tg := w.workload("deployment", 1, nil)
	user := tg.user("repo=org/proj")
	made := w.configured(r.handingOver(address, gitPassword), "provision", user)
	made.mustBe(w, 0)
	w.contains(made.stderr, "the credentials of "+address+" are left out",
		"clones its repository only if that is public")
	w.contains(w.must(0, "logs", user).stdout, "repository: cannot clone "+address+"/org/proj.git")
	pod, _, err := unstructured.NestedMap(tg.get().Object, "spec", "template", "spec")
	if err != nil || pod["initContainers"] != nil || strings.Contains(tg.template(), `"secret"`) {
		t.Errorf("%v: %s", err, tg.template())
	}
	w.must(0, "delete", user)
}

// What is kept in ~ outlives the pod, in the demo's way to say it: root's shell,
// and a storage at another user's home.
func TestHomeOutlivesThePod(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev")
	if out := w.must(0, "exec", "alice~dev", "--", "sh", "-lc",
		`echo kept >~/note; sync; echo "$HOME $(pwd) $(id -u)"`).
		stdout; out != "/home/dev /home/dev 0\n" {
		t.Errorf("home, working directory and user are %q", out)
	}
	id := w.idOf("alice~dev")
	if err := w.CoreV1().Pods(w.namespace).Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the pod is gone", func() bool { return w.pod(id) == nil })
	w.must(0, "provision", "alice~dev")
	if out := w.must(0, "exec", "alice~dev", "--", "sh", "-c", "cat ~/note").stdout; out != "kept\n" {
		t.Errorf("the note is %q", out)
	}
	w.must(0, "provision", "alice~at-home") // as a user that is not root
	if out := w.must(0, "exec", "alice~at-home", "--", "sh", "-lc", `touch ~/note && echo "$HOME $(pwd) $(id -u)"`).
		stdout; out != "/home/dev /home/dev 1000\n" {
		t.Errorf("home, working directory and user are %q", out)
	}
	for _, c := range w.pod(w.idOf("alice~at-home")).Spec.InitContainers {
		if s := c.SecurityContext; c.Image != "registry.example.com/berth/workspace:git" ||
			!slices.Equal(s.Capabilities.Add, []corev1.Capability{"CHOWN"}) {
			t.Errorf("%s runs %s with %+v", c.Name, c.Image, s)
		}
	}
}

// A home that is not where its storage is, is refused with what to write.
func TestContradictingHome(t *testing.T) {
	w := newWorld(t)
	w.contains(w.must(2, "provision", "alice~dev", "--set", "env.HOME=/root").stderr,
		`--set env.HOME: "/root" is not in the storage home, which is mounted at "/home/dev"`, "leave HOME out")
	w.contains(w.must(2, "provision", "alice~dev", "--set", "storages.x.type=memory", "--set", "storages.x.path=/usr").
		stderr,
		`--set storages.x.path: "/usr" is not available to users`)
}
