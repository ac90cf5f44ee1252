//go:build e2e

package e2e

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// A ConfigMap or a claim of an injected workspace that somebody has deleted is created
// again, and nothing is rolled out for that.
func TestHealsAnInjection(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	before, user := tg.template(), tg.user("dev")
	w.must(0, "provision", user)
	id := w.idOf(user)
	config := kube.Name(id, "config")
	revision := tg.get().GetAnnotations()["deployment.kubernetes.io/revision"]
	remove := func() {
		if err := w.CoreV1().ConfigMaps(w.namespace).Delete(t.Context(), config, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	remove()
	w.must(0, "provision", user, "--if-not-exists")
	if _, err := w.CoreV1().ConfigMaps(w.namespace).Get(t.Context(), config, metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	// A new pod waits for it until it is there.
	remove()
	for _, pod := range tg.pods() {
		// One of the revision before may be gone already.
		if err := w.CoreV1().Pods(w.namespace).Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil &&
			!apierrors.IsNotFound(err) {
			t.Fatal(err)
		}
	}
	w.must(0, "provision", user, "--if-not-exists", "--timeout", "3m")
	w.must(0, "exec", user, "--", "true")
	if after := tg.get().GetAnnotations()["deployment.kubernetes.io/revision"]; after != revision {
		t.Errorf("it was revision %s and is %s", revision, after)
	}
	w.must(0, "delete", user)
	tg.clean(before)
}

// A deletion whose rollout cannot go on ends, names what blocks it, and agrees with
// status and --owner about what is left.
func TestDeleteIntoABlockedRollout(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	user := tg.user("plain")
	w.must(0, "provision", user)
	id := w.idOf(user)
	// What the workload is made from is broken by its owner, so that no pod of any new
	// revision becomes ready.
	w.patchWeb(tg,
		`[{"op":"replace","path":"/spec/template/spec/containers/0/image",`+
			`"value":"registry.example.com/berth/workspace:no-such-tag"}]`)
	e := decode[v1.Error](w, w.must(5, "delete", user, "--timeout", "20s", "-o", "json"))
	w.contains(e.Message, "timed out after 20s", "out of the template of deployment/web", "1 pod still has it")
	w.contains(e.Hint, "kubectl rollout status deployment/web --namespace "+w.namespace)
	one := decode[v1.Workspace](w, w.must(0, "status", "id/"+id, "-o", "json"))
	list := decode[v1.WorkspaceList](w, w.must(0, "status", "-o", "json"))
	if one.Stage != v1.StageTerminating || len(list.Items) != 1 || list.Items[0].Stage != v1.StageTerminating {
		t.Errorf("it is %s, in the list %+v", one.Stage, list.Items)
	}
	for _, args := range [][]string{{user}, {"id/" + id}, {"--owner", "alice", "--yes"}} {
		r := w.must(0, append([]string{"delete"}, args...)...)
		w.contains(r.stderr, "RolloutBlocked", "no-such-tag")
	}
	// When the rollout goes on, nothing is left.
	w.patchWeb(tg,
		`[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"docker.io/library/busybox:stable"}]`)
	w.nothingIsLeft()
	w.eventually("it is not listed any more", func() bool {
		return len(decode[v1.WorkspaceList](w, w.must(0, "status", "-o", "json")).Items) == 0
	})
	w.must(7, "delete", user)
}

func (w *world) patchWeb(tg *target, patch string) {
	w.Helper()
	if _, err := tg.api.Patch(w.Context(), "web", types.JSONPatchType, []byte(patch),
		metav1.PatchOptions{}); err != nil {
		w.Fatal(err)
	}
}

// Two user strings with one ID are two workspaces: what is there is not entered, shown
// or deleted by the name of the other.
func TestOneIDForTwo(t *testing.T) {
	w := newWorld(t)
	const first, second = "alice~plain", "alice~bp7947"
	w.must(0, "provision", first)
	id := w.idOf(first)
	// No two blueprints of the tests collide: the pod is given the name that does.
	w.patchPod(id, `{"metadata":{"annotations":{"`+kube.AnnotationUserString+`":"YWxpY2V+YnA3OTQ3"}}}`) // alice~bp7947
	for _, command := range []string{"status", "logs", "diagnose", "delete", "provision"} {
		r := w.must(6, command, first)
		w.contains(r.stderr, "CONFLICT", first, second, "id/"+id)
	}
	w.contains(w.must(125, "exec", first, "--", "true").stderr, second)
	w.must(0, "exec", "id/"+id, "--", "true")
	w.must(0, "delete", "id/"+id)
	w.nothingIsLeft()
}

// Helm's record, forged by anyone who may write Secrets, takes nothing with it that is not
// the workspace's.
func TestForgedRecord(t *testing.T) {
	w := newWorld(t)
	core := w.CoreV1()
	w.must(0, "provision", "alice~plain")
	id := w.idOf("alice~plain")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "of-bob"}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	if err := json.Unmarshal([]byte(`{"requests":{"storage":"8Mi"}}`), &claim.Spec.Resources); err != nil {
		t.Fatal(err)
	}
	if _, err := core.PersistentVolumeClaims(w.namespace).Create(t.Context(), claim,
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.forgeManifest(id, "---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: of-bob}\n"+
		"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: kube-root-ca.crt, namespace: kube-system}\n")
	r := w.must(0, "delete", "alice~plain")
	w.contains(r.stderr, "NotOwned", "persistentvolumeclaim/of-bob", "kube-root-ca.crt in namespace kube-system")
	if claim, err := core.PersistentVolumeClaims(w.namespace).
		Get(t.Context(), "of-bob", metav1.GetOptions{}); err != nil || claim.DeletionTimestamp != nil {
		t.Errorf("another one's claim is gone: %v", err)
	}
	if err := core.PersistentVolumeClaims(w.namespace).Delete(t.Context(), "of-bob",
		metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	w.nothingIsLeft()
}

// forgeManifest writes more into Helm's record.
func (w *world) forgeManifest(id, more string) {
	w.Helper()
	secrets := w.CoreV1().Secrets(w.namespace)
	secret, err := secrets.Get(w.Context(), recordOf(id), metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	record := unpackRecord(w, secret.Data["release"])
	manifest, _ := record["manifest"].(string)
	record["manifest"] = strings.TrimRight(manifest, "\n") + "\n" + more
	secret.Data["release"] = packRecord(w, record)
	if _, err := secrets.Update(w.Context(), secret, metav1.UpdateOptions{}); err != nil {
		w.Fatal(err)
	}
}
