//go:build e2e

package e2e

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// Ctrl-C stops following, says how to continue, and the next run follows the same
// pod to its end.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	for signal, status := range map[os.Signal]int{os.Interrupt: 130, syscall.SIGTERM: 143} {
		t.Run(signal.String(), func(t *testing.T) {
			w := newWorld(t)
			run := w.start("provision", "alice~gated")
			run.waitFor("Starting")
			run.signal(signal)
			if signal == syscall.SIGTERM {
				run.signal(signal) // as timeout(1) does: to its child, and to the group of the child
			}
			r := run.wait()
			r.mustBe(w, status)
			w.contains(r.stderr, "berth provision alice~gated")
			if left := w.leftovers(); slices.ContainsFunc(left,
				func(s string) bool { return strings.HasPrefix(s, "lease/") }) {
				t.Errorf("the lock was not given back: %s", left)
			}
			before := w.pod(w.idOf("alice~gated")).UID
			again := w.start("provision", "alice~gated")
			again.waitFor("Starting") // otherwise it may find a workspace that is already running
			w.open("alice~gated")
			again.wait().mustBe(w, 0)
			if w.pod(w.idOf("alice~gated")).UID != before {
				t.Error("the pod was replaced instead of followed")
			}
		})
	}
}

// Killed at each write of an install, the same command heals what it finds.
func TestKilledAndProvisionedAgain(t *testing.T) {
	t.Parallel()
	// The lease, the record, four objects that are not the pod, and the pod: what
	// is killed before each of them is sent.
	for _, victim := range []string{
		"leases", "secrets", "configmaps", "persistentvolumeclaims", "pods",
		"PUT secrets",
	} {
		t.Run(victim, func(t *testing.T) {
			w := newWorld(t)
			verb, resource, ok := strings.Cut(victim, " ")
			if !ok {
				verb, resource = "POST", victim
			}
			proxy := w.proxy(killBefore(verb, resource))
			cmd := w.command("provision", "alice~dev")
			cmd.Env = append(cmd.Env, "KUBECONFIG="+proxy.kubeconfig)
			run := w.launch(cmd)
			proxy.kill <- cmd.Process
			if r := run.wait(); r.status != -1 {
				t.Fatalf("it was not killed but ended with %d:\n%s", r.status, r.stderr)
			}
			r := w.berth("provision", "alice~dev", "-o", "json")
			r.mustBe(w, 0)
			w.onlyOneRelease(decode[v1.Workspace](w, r).ID)
			w.must(0, "delete", "alice~dev")
			w.eventually("nothing is left", func() bool { return len(w.leftovers()) == 0 })
		})
	}
}

// Of several at once one works, the others follow it, and all end the same.
func TestSeveralAtOnce(t *testing.T) {
	w := newWorld(t)
	var runs []*process
	for range 3 {
		runs = append(runs, w.start("provision", "alice~dev", "-o", "json"))
	}
	var jobs []string
	for _, run := range runs {
		r := run.wait()
		r.mustBe(w, 0)
		jobs = append(jobs, decode[v1.Workspace](w, r).JobID)
	}
	slices.Sort(jobs)
	if len(slices.Compact(jobs)) != 1 {
		t.Errorf("several jobs have worked: %s", jobs)
	}
	w.onlyOneRelease(w.idOf("alice~dev"))
}

// And so they do when it fails.
func TestSeveralAtOnceFail(t *testing.T) {
	w := newWorld(t)
	first, second := w.start("provision", "alice~crashing"), w.start("provision", "alice~crashing")
	for _, run := range []*process{first, second} {
		r := run.wait()
		r.mustBe(w, 3)
		w.contains(r.stderr, "exit code 1")
	}
}

// And so they do when the cluster rejects the pod, so that there is none to follow.
func TestSeveralAtOnceRefused(t *testing.T) {
	w := newWorld(t)
	noPods(w)
	w.takesPods(false)
	var runs []*process
	for range 4 {
		runs = append(runs, w.start("provision", "alice", "-o", "json"))
	}
	for _, run := range runs {
		r := run.wait()
		r.mustBe(w, 3)
		doc := decode[v1.Error](w, r)
		if doc.Workspace == nil || doc.Workspace.Cause == nil || doc.Workspace.Cause.Code != "QuotaExceeded" ||
			doc.Left != v1.LeftKept {
			t.Errorf("%+v", doc)
		}
	}
}

// Delete meets provision: the holder of the workspace is named, or waited for.
func TestDeleteMeetsProvision(t *testing.T) {
	w := newWorld(t)
	run := w.start("provision", "alice~gated")
	run.waitFor("Starting")
	r := w.must(6, "delete", "alice~gated")
	w.contains(r.stderr, "CONFLICT", "process", "--wait")
	deletion := w.start("delete", "alice~gated", "--wait")
	w.open("alice~gated")
	run.wait().mustBe(w, 0)
	deletion.wait().mustBe(w, 0)
}

func (w *world) onlyOneRelease(id string) {
	w.Helper()
	secrets, err := w.CoreV1().Secrets(w.namespace).List(w.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil {
		w.Fatal(err)
	}
	if len(secrets.Items) != 1 || secrets.Items[0].Labels["status"] != "deployed" ||
		secrets.Items[0].Labels["name"] != id {
		w.Errorf("the releases are not one that is deployed:")
		for _, s := range secrets.Items {
			w.Errorf("%s %s", s.Name, s.Labels["status"])
		}
	}
}
