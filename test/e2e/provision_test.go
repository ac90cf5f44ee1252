//go:build e2e

package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// A workspace with everything that one can have: provisioned, entered, read,
// deleted without a trace.
func TestWorkspaceFromBeginningToEnd(t *testing.T) {
	w := newWorld(t)
	made := w.must(0, "provision", "alice~dev", "--output", "json")
	doc := decode[v1.Workspace](w, made)
	if doc.Kind != "Workspace" || doc.Stage != v1.StageRunning || doc.Blueprint != "dev" || doc.Owner != "alice" {
		t.Errorf("%+v", doc)
	}
	pod := w.pod(doc.ID)
	for name, want := range map[string]string{
		kube.LabelCanonicalID: doc.ID, kube.LabelUsername: "alice", kube.LabelBlueprint: "dev",
		kube.LabelJobID: doc.JobID,
	} {
		if pod.Labels[name] != want {
			t.Errorf("label %s is %q, want %q", name, pod.Labels[name], want)
		}
	}

	for command, want := range map[string]string{
		"cat /tmp/last":      "first as",
		"cat /etc/team.conf": "colour = blue",
		"echo $TEAM":         "blue",
		"grep -c ' /home/dev \\| /scratch ' /proc/mounts":   "2",
		"ls $HOME/.k8shell/flags | tr '\\n' ' '":            "first last",
		"touch /home/dev/x /scratch/x && echo can write it": "can write it",
	} {
		if out := w.must(0, "exec", "alice~dev", "--", "sh", "-c", command).stdout; !strings.Contains(out, want) {
			t.Errorf("%s says %q, want %q", command, out, want)
		}
	}

	again := w.must(6, "provision", "alice~dev")
	w.contains(again.stderr, "already running", "ALREADY_EXISTS", "berth exec alice~dev")
	if name := w.must(0, "provision", "alice~dev", "--if-not-exists", "-o", "name").
		stdout; strings.TrimSpace(name) != doc.ID {
		t.Errorf("--if-not-exists prints %q", name)
	}
	other := w.must(0, "provision", "alice~dev", "--if-not-exists", "--image", "busybox:other", "-o", "json")
	w.contains(other.stderr, "created with, which have changed since: image", " → ")
	if drift := decode[v1.Workspace](w, other).Drift; len(drift) != 1 || !strings.Contains(drift[0], "busybox:other") {
		t.Errorf("the drift is %q", drift)
	}
	list := decode[v1.WorkspaceList](w, w.must(0, "status", "--output", "json"))
	if len(list.Items) != 1 || list.Items[0].ID != doc.ID || list.Items[0].Stage != v1.StageRunning {
		t.Errorf("status lists %+v", list.Items)
	}
	for _, name := range []string{"alice~dev", doc.ID, "id/" + doc.ID} {
		if one := decode[v1.Workspace](w, w.must(0, "status", name, "-o", "json")); one.UserString != "alice~dev" {
			t.Errorf("status %s is %+v", name, one)
		}
	}

	deleted := decode[v1.Deletion](w, w.must(0, "delete", "alice~dev", "-o", "json"))
	if !deleted.Gone || deleted.Objects != 5 {
		t.Errorf("%+v", deleted)
	}
	w.eventually("nothing is left", func() bool { return len(w.leftovers()) == 0 })
	w.contains(w.must(7, "delete", "alice~dev").stderr, "not found in namespace", "NOT_FOUND")
	w.must(0, "delete", "alice~dev", "--ignore-not-found")
	w.must(7, "status", "alice~dev")
}

func TestDefaultBlueprint(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice")
	if out := w.must(0, "exec", "alice", "--", "hostname").stdout; !strings.HasPrefix(out, "alice-") {
		t.Errorf("the host is called %q", out)
	}
}

// Without a user string the workspace is the caller's.
func TestTheCallersOwn(t *testing.T) {
	w := newWorld(t)
	doc := decode[v1.Workspace](w, w.must(0, "provision", "-o", "json"))
	if doc.Owner != "system:serviceaccount:"+w.namespace+":"+w.account {
		t.Errorf("the caller is %q", doc.Owner)
	}
}

// Deleting does not wait for a pod that takes its time, and provisioning again
// waits for it.
func TestProvisionWhileTheOldPodIsEnding(t *testing.T) {
	w := newWorld(t)
	doc := decode[v1.Workspace](w, w.must(0, "provision", "alice~plain", "-o", "json"))
	old := w.pod(doc.ID).UID
	w.patchPod(doc.ID, `{"metadata":{"finalizers":["foo.example.com/bar"]}}`)
	w.must(0, "delete", "alice~plain", "--no-wait")
	if pod := w.pod(doc.ID); pod == nil || pod.DeletionTimestamp == nil {
		t.Fatal("the pod is not ending")
	}
	again := w.start("provision", "alice~plain")
	again.waitFor("the old one is terminating")
	w.patchPod(doc.ID, `{"metadata":{"finalizers":null}}`)
	r := again.wait()
	r.mustBe(w, 0)
	w.contains(r.stderr, "Running")
	if pod := w.pod(doc.ID); pod == nil || pod.UID == old {
		t.Error("the pod is the old one")
	}
}

// The deletion of a pod that is waited for is reported at once.
func TestPodDeletedWhileWaiting(t *testing.T) {
	w := newWorld(t)
	run := w.start("provision", "alice~huge")
	id := w.idOf("alice~huge")
	w.eventually("the pod is there", func() bool { return w.pod(id) != nil })
	run.waitFor("Scheduling")
	if err := w.CoreV1().Pods(w.namespace).Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	r := run.wait()
	r.mustBe(w, 3)
	w.contains(r.stderr, "deleted")
}

// A script that is removed from a blueprint is gone when the workspace is created
// again.
func TestRemovedScriptIsGone(t *testing.T) {
	w := newWorld(t)
	blueprints := t.TempDir()
	scripts := func(list string) {
		t.Helper()
		text := "blueprints: [{name: mine, template: base, image: registry.example.com/berth/workspace:v1, " +
			"resources: {cpu: 10m, memory: 32Mi}, initScripts: [" + list + "]}]"
		if err := os.WriteFile(filepath.Join(blueprints, "mine.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scripts("{name: a, script: touch /tmp/a}, {name: b, script: touch /tmp/b}")
	id := decode[v1.Workspace](w, w.must(0, "provision", "alice~mine", "--blueprints", blueprints, "-o", "json")).ID
	if err := w.CoreV1().Pods(w.namespace).Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	scripts("{name: a, script: touch /tmp/a}")
	w.must(0, "provision", "alice~mine", "--blueprints", blueprints)
	if out := w.must(0, "exec", "alice~mine", "--", "ls", "/tmp").stdout; out != "a\n" {
		t.Errorf("/tmp has %q", out)
	}
}

// A user string that names a pod means its namespace and its owner.
func TestNamedWorkspace(t *testing.T) {
	w := newWorld(t)
	id := decode[v1.Workspace](w, w.must(0, "provision", "alice~plain", "-o", "json")).ID
	named := "~pod=" + id + "+ns=" + w.namespace
	if out := w.must(0, "exec", "alice"+named, "--namespace", "default", "--", "hostname").stdout; out != id+"\n" {
		t.Errorf("the host is %q", out)
	}
	w.contains(w.must(125, "exec", "mallory"+named, "--", "hostname").stderr, "PERMISSION_DENIED", "alice")
	w.contains(w.must(4, "delete", "mallory"+named).stderr, "does not belong to mallory")
	w.must(4, "status", "alice~pod="+id+"+ns=default")
	w.as(grant{"default", rbac.Named("status").PolicyRules()}).must(7, "status", "alice~pod="+id+"+ns=default")
	w.must(0, "delete", "alice"+named, "--namespace", "default")
}

func TestLegalButNotThere(t *testing.T) {
	w := newWorld(t)
	w.contains(w.must(7, "provision", "alice~nope").stderr, `blueprint "nope" not found`, "choose one of")
	w.contains(w.must(2, "provision", "alice~").stderr, "character 7")
	w.contains(w.must(2, "provision", "alice~pod=x").stderr, "existing workspace")
	w.contains(w.must(2, "provision", "alice", "--colour").stderr, "--help")
	everywhere := w.as(clusterRole(rbac.Named(rbac.Provision)))
	w.contains(everywhere.must(7, "provision", "alice~plain", "--namespace", "no-such-namespace").stderr,
		"no-such-namespace", "--create-namespace")
	if left := w.leftovers(); len(left) != 0 {
		t.Errorf("something was made: %s", left)
	}
}
