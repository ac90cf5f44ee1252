//go:build e2e

package e2e

import (
	"os"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// slowImage is an image that takes some seconds to be pulled: an image is slow once in the
// life of a cluster.
func (w *world) slowImage() string { return "registry.example.com/berth/workspace:slow-" + w.namespace }

// A workspace that is not running yet is waited for, and the command has standard output
// for itself; --no-wait refuses.
func TestExecWaits(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain", "--no-wait", "--image", w.slowImage())
	refused := w.must(125, "exec", "alice~plain", "--no-wait", "--", "echo", "entered")
	w.contains(refused.stderr, "container k8shell-main is not running (FAILED)", "berth status id/")
	r := w.must(0, "exec", "alice~plain", "--", "echo", "entered")
	if r.stdout != "entered\n" {
		t.Errorf("standard output is %q", r.stdout)
	}
	w.contains(r.stderr, "stage Pulling: workspace:slow-", "stage Running: ready in ")
	if r := w.must(0, "exec", "alice~plain", "--", "echo", "entered"); r.stderr != "" {
		t.Errorf("of a workspace that runs: %q", r.stderr)
	}
}

// One that will not run ends with the cause.
func TestExecWaitsInVain(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~wrong-tag", "--no-wait")
	r := w.must(125, "exec", "alice~wrong-tag", "--", "true")
	w.contains(r.stderr, "error FAILED", "workspace:no-such-tag not found", "hint: ")

	w.must(0, "provision", "alice~huge", "--no-wait")
	run := w.start("exec", "alice~huge", "--", "true")
	run.waitFor("stage Scheduling")
	run.signal(os.Interrupt)
	interrupted := run.wait()
	interrupted.mustBe(w, 130)
	w.contains(interrupted.stderr, "interrupted after ", "still Scheduling")

	run = w.start("exec", "alice~huge", "--", "true")
	run.waitFor("stage Scheduling")
	w.must(0, "delete", "alice~huge", "--yes")
	r = run.wait()
	r.mustBe(w, 125)
	w.contains(r.stderr, "error FAILED", "the pod ", " deleted") // or is being deleted: that may be seen first
}

// The live view, and then the terminal is the shell's.
func TestExecWaitsAtATerminal(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain", "--no-wait", "--image", w.slowImage())
	at := w.sit(w.command("exec", "alice~plain"))
	at.sees("Pulling")
	at.sees("Running")
	at.sees("\x1b[?25h") // the cursor is given back
	at.sees("# ")
	at.types("tty; stty size; echo marker-$((40+2)); exit 7\n")
	at.sees("/dev/pts/")
	at.sees("24 80")
	at.sees("marker-42")
	at.ends(7)

	w.must(0, "provision", "alice~huge", "--no-wait")
	at = w.sit(w.command("exec", "alice~huge"))
	at.sees("Scheduling")
	at.types("\x03")
	w.contains(at.ends(130), "Interrupted after")
}

// A workspace that is not there is NOT_FOUND, with a way out; --provision goes it.
func TestExecProvisions(t *testing.T) {
	w := newWorld(t)
	r := w.must(125, "exec", "alice~plain", "--", "true")
	w.contains(r.stderr, "NOT_FOUND", "provision and enter it: berth exec alice~plain --provision", "-n "+w.namespace)
	w.contains(w.must(125, "exec", w.idOf("alice~plain"), "--provision", "--", "true").stderr,
		"is an ID, which does not say what to provision", "INVALID_ARGUMENT")
	r = w.must(125, "exec", w.idOf("alice~plain"), "--", "true")
	if strings.Contains(r.stderr, "--provision") {
		t.Errorf("an ID is to be provisioned:\n%s", r.stderr)
	}
	r = w.must(5, "exec", "alice~plain", "--provision", "--", "sh", "-c", "echo entered; exit 5")
	if r.stdout != "entered\n" {
		t.Errorf("standard output is %q", r.stdout)
	}
	w.contains(r.stderr, "step install", "stage Running")
	if r := w.must(0, "exec", "alice~plain", "--provision", "--", "true"); r.stderr != "" {
		t.Errorf("of a workspace that is there: %q", r.stderr)
	}
	w.contains(w.must(125, "exec", "alice~wrong-tag", "--provision", "--", "true").stderr,
		"workspace:no-such-tag not found", "berth delete alice~wrong-tag")
	w.contains(w.must(125, "exec", "alice~no-such-blueprint", "--provision", "--", "true").stderr, "no-such-blueprint")
}

// provision --exec enters as soon as it runs, without and with a terminal, and ends as
// the shell does; what cannot be brought up ends as provision does.
func TestProvisionEnters(t *testing.T) {
	w := newWorld(t)
	command := w.command("provision", "alice~plain", "--exec")
	command.Stdin = strings.NewReader("echo from the shell; exit 9\n")
	r := w.finish(command)
	r.mustBe(w, 9)
	if r.stdout != "from the shell\n" || strings.Contains(r.stderr, "next") {
		t.Errorf("%+v", r)
	}
	at := w.sit(w.command("provision", "alice~plain", "--exec")) // which runs already
	at.sees("Running")
	at.sees("# ")
	at.types("echo marker-$((40+2)); exit 3\n")
	at.sees("marker-42")
	at.ends(3)
	w.must(3, "provision", "alice~wrong-tag", "--exec")
}

// Injected, a replica that is ready is entered, or the one that is named; while the
// rollout has not got there, it is waited for.
func TestExecWaitsForAReplica(t *testing.T) {
	t.Parallel()
	for kind, watched := range map[string][]rbac.Access{
		"deployment": {
			{Verb: "watch", Group: "apps", Resource: "deployments"},
			{Verb: "watch", Group: "apps", Resource: "replicasets"},
		},
		"statefulset": {{Verb: "watch", Group: "apps", Resource: "statefulsets"}},
		"daemonset":   {{Verb: "watch", Group: "apps", Resource: "daemonsets"}},
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			replicas := 2
			if kind == "daemonset" {
				replicas = 1
			}
			tg := w.workload(kind, replicas, nil)
			user := tg.user("plain")
			w.must(0, "provision", user, "--no-wait", "--image", w.slowImage())
			for _, a := range watched {
				r := w.as(grant{w.namespace, without(rbac.Named("exec"), a)}).berth("exec", user, "--", "true")
				r.mustBe(w, 125)
				w.contains(r.stderr, "may not watch "+a.Resource)
			}
			r := w.must(0, "exec", user, "--", "hostname")
			first := strings.TrimSpace(r.stdout)
			w.contains(r.stderr, "Pulling", "stage Running")
			id := w.idOf(user)
			for _, pod := range tg.pods() {
				if pod.Labels[kube.LabelCanonicalID] != id || pod.DeletionTimestamp != nil {
					continue // of the revision before
				}
				if got := w.must(0, "exec", user, "--pod", pod.Name, "--", "hostname").stdout; kind != "daemonset" &&
					got != pod.Name+"\n" {
					t.Errorf("in pod %s the host is %q", pod.Name, got)
				}
				w.contains(w.must(125, "exec", user, "--pod", first+"x", "--", "true").stderr,
					"is not a pod of workspace "+id, pod.Name)
			}
			w.contains(w.must(0, "exec", user, "-c", "web", "--", "sh", "-c", "ps").stdout, "trap exit TERM")
			w.contains(w.must(125, "exec", user, "-c", "nosuch", "--", "true").stderr, "its containers are: "+id+
				"-k8shell-main, web")
			w.offers([]string{"exec", user, "-c", ""}, id+"-k8shell-main\nweb\n")
			w.offers([]string{"cp", "file", "id/" + id + ":", "-c", ""}, id+"-k8shell-main\nweb\n")
		})
	}
}

// The shell is that of the OS user, in the home directory; a command runs as the
// container does, or as the OS user who is asked for. A user that is not there, or whom the container may
// not become, is refused.
func TestShellOfTheOSUser(t *testing.T) {
	w := newWorld(t)
	shell := func(user string) result {
		command := w.command("exec", user)
		command.Stdin = strings.NewReader("echo \"$(id -un) $HOME $PWD $USER $TEAM\"\n")
		r := w.finish(command)
		r.mustBe(w, 0)
		if strings.HasPrefix(r.stderr, "waiting for the API server") { // it is busy
			_, r.stderr, _ = strings.Cut(r.stderr, "\n")
		}
		return r
	}
	says := func(user, stdout, stderr string) {
		t.Helper()
		if r := shell(user); r.stdout != stdout+"\n" || !strings.Contains(r.stderr, stderr) || stderr == "" &&
			r.stderr != "" {
			t.Errorf("%s: %q, %q; want %q, %q", user, r.stdout, r.stderr, stdout, stderr)
		}
	}
	w.must(0, "provision", "alice~plain+user=dev", "--set", "env.TEAM=blue")
	says("alice~plain", "dev /home/dev /home/dev dev blue", "") // as the workspace says
	says("alice~plain+user=dev", "dev /home/dev /home/dev dev blue", "")
	says("id/"+w.idOf("alice~plain"), "dev /home/dev /home/dev dev blue", "")
	says("alice~plain+user=root", "root /root /root  blue", "")
	refused := func(says string, args ...string) {
		t.Helper()
		r := w.must(125, append([]string{"exec"}, args...)...)
		w.contains(r.stderr, says)
		if r.stdout != "" {
			t.Errorf("%q is run", r.stdout)
		}
	}
	refused("berth: cannot enter container k8shell-main as user nosuch: no such user in the container",
		"alice~plain+user=nosuch")
	refused("as user nosuch: no such user in the container", "alice~plain+user=nosuch", "--", "id")
	for user, want := range map[string]string{
		"alice~plain": "root a b\n", "alice~plain+user=dev": "dev a b\n",
		"alice~plain+user=root": "root a b\n",
	} {
		if r := w.must(0, "exec", user, "--", "sh", "-c", `echo "$(id -un) $0"`, "a b"); r.stdout != want {
			t.Errorf("the command of %s runs as %q", user, r.stdout)
		}
	}
	at := w.sit(w.command("exec", "alice~plain+user=dev"))
	at.sees("$ ")
	at.types("tty; id -un; sleep 3000\n")
	at.sees("/dev/pts/")
	at.sees("dev")
	w.eventually("it sleeps", func() bool { return strings.Contains(w.processes("alice~plain"), "sleep 3000") })
	at.types("\x1a") // Ctrl-Z: the user's shell has job control
	at.sees("Stopped")
	at.types("kill -9 %1; exit\nexit\n")
	at.ends(0)

	w.must(0, "provision", "bob~restricted") // whose container is not root
	says("bob~restricted", "dev /home/dev /home/dev  ", "")
	says("bob~restricted+user=dev", "dev /home/dev /home/dev  ", "")
	refused("as user root: only root can switch users there (its own user is dev: user=dev)",
		"bob~restricted+user=root")

	w.must(0, "provision", "eve~dev+user=dev") // whose home is a storage
	says("eve~dev", "dev /home/dev /home/dev dev blue",
		"berth: cannot enter the home directory /home/dev") // it is root's alone
}
