//go:build e2e

package e2e

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
)

// patchPod changes a workspace's pod as another client would.
func (w *world) patchPod(id, patch string, subresources ...string) {
	w.Helper()
	_, err := w.CoreV1().Pods(w.namespace).
		Patch(w.Context(), id, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	if err != nil {
		w.Fatal(err)
	}
}

// Several at once: bad arguments are reported together before anything is done; one
// that does not exist stops no other; twice the same is once.
func TestDeleteSeveral(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "-f", w.teamFile("alice~plain\nbob~plain\n"))
	alice, bob := w.idOf("alice~plain"), w.idOf("bob~plain")

	bad := decode[v1.Error](w, w.must(2, "delete", "alice~plain", "al!ce", "bob~bad~", "-o", "json"))
	if bad.Code != "INVALID_ARGUMENT" || len(bad.Problems) != 2 || w.pod(alice) == nil ||
		w.pod(alice).DeletionTimestamp != nil {
		t.Fatalf("bad arguments: %+v", bad)
	}
	r := w.must(3, "delete", "alice~plain", "nobody-1234567", bob, "id/"+alice, "alice~plain", "-o", "json")
	doc := decode[v1.DeletionSummary](w, r)
	if doc.Kind != "DeletionSummary" || doc.Succeeded != 2 || doc.Failed != 1 || doc.ExitStatus != 3 ||
		len(doc.Items) != 3 || doc.Requests == 0 {
		t.Fatalf("%s", r.stdout)
	}
	if e := doc.Items[1].Error; e == nil || e.Code != "NOT_FOUND" || e.ExitStatus != 7 ||
		doc.Items[1].Argument != "nobody-1234567" {
		t.Errorf("the unknown one: %+v", doc.Items[1])
	}
	for _, i := range []int{0, 2} {
		if d := doc.Items[i].Deletion; d == nil || !d.Gone || d.Objects == 0 {
			t.Errorf("item %d: %+v", i, doc.Items[i])
		}
	}
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	r = w.must(0, "delete", "alice~plain", "nobody-1234567", "--ignore-not-found", "-o", "jsonl")
	w.checkDeletions(r.stdout, 2)
}

func (w *world) checkDeletions(stream string, outcomes int) {
	w.Helper()
	lines := strings.Split(strings.TrimSpace(stream), "\n")
	w.contains(lines[len(lines)-1], `"kind":"DeletionSummary"`, `"notFound":true`)
	if n := strings.Count(stream, `"outcome":`); n != outcomes {
		w.Errorf("%d outcomes in\n%s", n, stream)
	}
}

// All of an owner, in the owner's namespace or in all: asked at a terminal, with
// --yes elsewhere.
func TestDeleteAllOfAnOwner(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "-f", w.teamFile("alice~plain\nalice~dev\nbob~plain\n"))

	r := w.must(2, "delete", "--owner", "alice", "-o", "json")
	if e := decode[v1.Error](w, r); e.Code != "INVALID_ARGUMENT" || !strings.Contains(e.Hint, "--yes") {
		t.Errorf("without a terminal: %+v", e)
	}
	out, status := w.terminal(w.command("delete", "--owner", "alice"), "n\n")
	w.contains(ansi.Strip(out), w.idOf("alice~dev"), w.idOf("alice~plain"), "STORAGE", "home",
		"Delete 2 workspaces of alice and the storage? [y/N]", "nothing was deleted")
	if status != 130 || w.pod(w.idOf("alice~plain")) == nil || strings.Contains(out, w.idOf("bob~plain")) {
		t.Errorf("declined: status %d:\n%s", status, out)
	}
	out, status = w.terminal(w.command("delete", "--owner", "alice"), "y\n")
	w.contains(ansi.Strip(out), "Delete 2 workspaces of alice and the storage? [y/N]", "2 workspaces in "+w.namespace,
		"✔ alice~dev", "Deleted", "2 deleted in")
	if status != 0 || w.pod(w.idOf("alice~plain")) != nil || w.pod(w.idOf("alice~dev")) != nil {
		t.Errorf("confirmed: status %d:\n%s", status, out)
	}
	if w.pod(w.idOf("bob~plain")) == nil {
		t.Error("another one's workspace is gone")
	}
	w.must(7, "delete", "--owner", "alice", "--yes")
	w.must(0, "delete", "--owner", "alice", "--yes", "--ignore-not-found")
	doc := decode[v1.DeletionSummary](w, w.must(0, "delete", "--owner", "bob", "--yes", "-o", "json"))
	if len(doc.Items) != 1 || doc.Items[0].UserString != "bob~plain" || !doc.Items[0].Deletion.Gone {
		t.Errorf("%+v", doc)
	}
	w.nothingIsLeft() // a claim goes when the last pod that mounts it has gone
}

// The workspaces of one ID in two namespaces are two.
func TestDeleteInAllNamespaces(t *testing.T) {
	w := newWorld(t)
	made, err := w.CoreV1().Namespaces().
		Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: w.namespace + "-b"}},
			metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w = w.as(w.role(rbac.Developer()), grant{made.Name, rbac.Developer().PolicyRules()},
		clusterRole(rbac.Named(rbac.DeleteOfAll)))
	other := w.of(t)
	other.namespace = made.Name
	t.Cleanup(func() { w.berth("delete", "traveller~plain", "--ignore-not-found", "--no-wait", "-n", other.namespace) })
	w.eventually("the other namespace has its service account", func() bool {
		_, err := w.CoreV1().ServiceAccounts(other.namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
	w.must(0, "provision", "traveller~plain")
	other.must(0, "provision", "traveller~plain")
	r := w.must(0, "delete", "--owner", "traveller", "-A", "--yes")
	id := w.idOf("traveller~plain")
	w.contains(r.stderr, w.namespace+"/"+id+" deleted", other.namespace+"/"+id+" deleted", "2 deleted in")
	if w.pod(id) != nil || other.pod(id) != nil {
		t.Error("one is still there")
	}
	_ = w.CoreV1().Namespaces().Delete(t.Context(), other.namespace, metav1.DeleteOptions{})
}

// What blocks a pod's deletion is reported while waiting, and on timeout.
func TestDeleteHeldByAFinalizer(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	id := w.idOf("alice~plain")
	w.patchPod(id, `{"metadata":{"finalizers":["foo.example.com/bar"]}}`)
	e := decode[v1.Error](w, w.must(5, "delete", "alice~plain", "--timeout", "20s", "-o", "json"))
	w.contains(e.Message, "timed out after 20s", "pod "+id+" is still there", "phase ", "grace period",
		"held by finalizer foo.example.com/bar")
	w.contains(e.Hint, "kubectl patch pod "+id)

	p := w.start("delete", "alice~plain")
	p.waitFor("stage Terminating")
	p.waitFor("held by finalizer foo.example.com/bar")
	w.patchPod(id, `{"metadata":{"finalizers":null}}`)
	p.wait().mustBe(w, 0)
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A workspace that fails is kept, or removed with the claims that this run made;
// how it failed is known all the same.
func TestOnFailure(t *testing.T) {
	w := newWorld(t)
	kept := decode[v1.Error](w, w.must(3, "provision", "alice~unbindable", "-o", "json"))
	if kept.Left != v1.LeftKept || w.pod(w.idOf("alice~unbindable")) == nil {
		t.Errorf("kept: %+v", kept)
	}
	w.must(0, "delete", "alice~unbindable")

	for user, end := range map[string]struct {
		timeout string
		status  int
	}{"alice~unbindable": {"5m", 3}, "bob~crashing": {"5m", 3}, "carol~huge": {"15s", 5}} {
		gone := decode[v1.Error](w, w.must(end.status, "provision", user, "--on-failure", "delete", "--timeout",
			end.timeout, "-o", "json"))
		if gone.Left != v1.LeftDeleted || gone.Workspace == nil || gone.Workspace.CreatedAt.IsZero() ||
			gone.Workspace.Cause == nil {
			t.Errorf("%s: %+v", user, gone)
		}
		if user == "bob~crashing" && gone.Logs == nil {
			t.Errorf("%s: its last words are lost", user)
		}
		w.nothingIsLeft() // a claim goes when the last pod that mounts it has gone
	}
	text := w.must(3, "provision", "alice~wrong-tag", "--on-failure", "delete").stderr
	w.contains(text, "step remove:", "deleted: what was created")
	if strings.Contains(text, "berth delete") {
		t.Errorf("it proposes to delete what is gone:\n%s", text)
	}
	w.contains(w.must(3, "provision", "alice~wrong-tag").stderr, "kept: berth delete alice~wrong-tag")

	// What was there before this run stays, its record included.
	again := decode[v1.Error](w, w.must(3, "provision", "alice~wrong-tag", "--on-failure", "delete", "-o", "json"))
	if again.Left != v1.LeftDeleted || w.pod(w.idOf("alice~wrong-tag")) != nil || len(w.leftovers()) == 0 {
		t.Errorf("created again: %+v, %v", again, w.leftovers())
	}
	w.must(0, "delete", "alice~wrong-tag")
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A claim from before the run survives its failure.
func TestOnFailureSparesClaims(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev")
	id := w.idOf("alice~dev")
	w.must(0, "exec", "alice~dev", "--", "sh", "-c", "echo kept > /home/dev/file; sync")
	if err := w.CoreV1().Pods(w.namespace).Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the pod is gone", func() bool { return w.pod(id) == nil })
	cmd := w.command("provision", "alice~dev", "--timeout", "20s", "--on-failure", "delete")
	cmd.Env = append(cmd.Env, "KUBECONFIG="+w.between(func(out http.ResponseWriter, r *http.Request,
		next http.Handler,
	) {
		if isCreation(r, "pods") { // the last of what is made
			unanswered(r)
		}
		next.ServeHTTP(out, r)
	}))
	w.finish(cmd).mustBe(w, 5)
	claims := func() (names []string) {
		list, err := w.CoreV1().PersistentVolumeClaims(w.namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, claim := range list.Items {
			names = append(names, claim.Name)
		}
		return names
	}
	if got := claims(); !slices.Equal(got, []string{"pvc-" + id + "-home"}) {
		t.Fatalf("claims: %v", got)
	}
	w.must(0, "provision", "alice~dev")
	w.contains(w.must(0, "exec", "alice~dev", "--", "cat", "/home/dev/file").stdout, "kept")
}

// A running workspace is part of the refusal; one that has stopped, or
// was asked to, is started again.
func TestProvisionWhatHasStopped(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	id := w.idOf("alice~plain")
	e := decode[v1.Error](w, w.must(6, "provision", "alice~plain", "-o", "json"))
	if e.Code != "ALREADY_EXISTS" || e.Workspace == nil || e.Workspace.ID != id ||
		e.Workspace.Stage != v1.StageRunning || e.Workspace.Owner != "alice" || e.Left != "" {
		t.Fatalf("%+v", e)
	}
	before := w.pod(id).UID
	w.patchPod(id, `{"metadata":{"annotations":{"k8shell.io/stop-requested":"true"}}}`)
	if got := decode[v1.Workspace](w,
		w.must(0, "status", "alice~plain", "-o", "json")); got.Status != v1.StatusStopping {
		t.Errorf("asked to stop: %s, %s", got.Stage, got.Status)
	}
	w.must(0, "provision", "alice~plain")
	started := w.pod(id)
	if started.UID == before || started.Annotations["k8shell.io/stop-requested"] != "" {
		t.Fatalf("asked to stop: %s is still there", before)
	}
	// The kubelet overwrites the status sooner or later: if that comes in between, the
	// test writes it again.
	w.eventually("what has stopped is started again", func() bool {
		w.patchPod(id, `{"status":{"phase":"Succeeded"}}`, "status")
		w.berth("provision", "alice~plain", "--if-not-exists")
		again := w.pod(id)
		return again != nil && again.UID != started.UID && again.Status.Phase == corev1.PodRunning
	})
}

// A user who may not list releases does not get "not found": with the pod gone, only
// the record shows that the workspace exists.
func TestDeleteWithoutListSecretsAndPod(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "gone~plain")
	id := w.idOf("gone~plain")
	if err := w.CoreV1().Pods(w.namespace).Delete(w.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.eventually("the pod is gone", func() bool { return w.pod(id) == nil })
	before := w.leftovers()
	limited := w.as(grant{w.namespace, without(rbac.Named(rbac.Delete),
		rbac.Access{Verb: "list", Resource: "secrets"})})
	r := limited.must(4, "delete", "gone~plain", "--ignore-not-found")
	w.contains(r.stderr, "PERMISSION_DENIED", "you may not list secrets in namespace "+w.namespace)
	r = limited.must(3, "delete", "gone~plain", "id/"+id, "--ignore-not-found")
	w.contains(r.stderr, "you may not list secrets in namespace "+w.namespace)
	if after := w.leftovers(); !slices.Equal(before, after) {
		t.Errorf("%s became %s", before, after)
	}
}
