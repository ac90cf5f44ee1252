//go:build e2e

package e2e

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
)

// writer is a client of an account that may write objects of one kind and nothing else.
func (w *world) writer(resource string) kubernetes.Interface {
	w.Helper()
	only := grant{w.namespace, []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{resource},
		Verbs: []string{"get", "list", "create", "update", "patch", "delete"},
	}}}
	client, err := kubernetes.NewForConfig(w.as(only).limited)
	if err != nil {
		w.Fatal(err)
	}
	return client
}

// refusedByGuard fails the test unless the policy of records has refused a write.
func (w *world) refusedByGuard(what string, err error) {
	w.Helper()
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), lifecycle.Guard) {
		w.Errorf("%s: %v", what, err)
	}
}

// Anyone who may write ConfigMaps alone neither deletes a workspace nor starts one, whatever they
// write into its record; a user who may only stop it does not delete it.
func TestRecordsOfConfigMaps(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~dev")
	id, run := w.idOf("alice~dev"), w.runLoop()
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	name, theirs := lifecycle.NamePrefix+id, w.writer("configmaps").CoreV1().ConfigMaps(w.namespace)
	patch := func(change map[string]any) error {
		text, err := json.Marshal(change)
		if err != nil {
			t.Fatal(err)
		}
		_, err = theirs.Patch(t.Context(), name, types.MergePatchType, text, metav1.PatchOptions{})
		return err
	}
	document, err := theirs.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for what, desired := range map[string]string{
		"Terminated": `Terminated`, "Terminated with an escape": `\u0054erminated`, "Stopped": "Stopped",
		"RestartRequested": "RestartRequested",
	} {
		forged := strings.Replace(document.Data["record"], `"desired":"Running"`, `"desired":"`+desired+`"`, 1)
		forged = strings.Replace(forged, `"changed":`, `"changed":9`, 1)
		w.refusedByGuard(what, patch(map[string]any{"data": map[string]any{"record": forged}}))
	}
	w.refusedByGuard("old", patch(map[string]any{"metadata": map[string]any{"annotations": map[string]any{
		lifecycle.AnnotationMade: `{"createdAt":"2001-01-01T00:00:00Z","limits":{"maxAgeHours":1}}`,
	}}}))
	w.refusedByGuard("without the label",
		patch(map[string]any{"metadata": map[string]any{"labels": map[string]any{lifecycle.Label: nil}}}))
	w.refusedByGuard("without what is vouched for",
		patch(map[string]any{"metadata": map[string]any{"annotations": nil}}))
	for what, other := range map[string]*corev1.ConfigMap{
		"a record by its name": {ObjectMeta: metav1.ObjectMeta{Name: lifecycle.NamePrefix + "bob-1"}},
		"a record by its label": {ObjectMeta: metav1.ObjectMeta{
			Name:   "bob-1",
			Labels: map[string]string{lifecycle.Label: id},
		}},
	} {
		other.Data = document.Data
		_, err := theirs.Create(t.Context(), other, metav1.CreateOptions{})
		w.refusedByGuard(what, err)
	}
	w.refusedByGuard("deleting it", theirs.Delete(t.Context(), name, metav1.DeleteOptions{}))
	plain := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "plain"}}
	if _, err := theirs.Create(t.Context(), plain, metav1.CreateOptions{}); err != nil {
		t.Errorf("a ConfigMap that is no record: %v", err)
	}
	if err := theirs.Delete(t.Context(), plain.Name, metav1.DeleteOptions{}); err != nil {
		t.Errorf("deleting one that is no record: %v", err)
	}

	// The permission to stop is enough to record that, and for nothing else.
	stopper := w.as(w.role(rbac.Named(rbac.Stop)))
	stopper.must(0, "stop", "alice~dev")
	w.becomes(id, v1.DesiredStopped, v1.ActualStopped)
	client, err := kubernetes.NewForConfig(stopper.limited)
	if err != nil {
		t.Fatal(err)
	}
	theirs = client.CoreV1().ConfigMaps(w.namespace)
	if document, err = theirs.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	forged := strings.Replace(document.Data["record"], `"desired":"Stopped"`, `"desired":"Terminated"`, 1)
	forged = strings.Replace(forged, `"changed":`, `"changed":9`, 1)
	if err := patch(map[string]any{"data": map[string]any{"record": forged}}); err != nil {
		t.Fatal(err)
	}
	w.eventually("it says that its author may not", func() bool {
		r := w.state(id)
		return r.Actual == v1.ActualError && strings.Contains(r.Cause, "may only stop")
	})
	w.contains(w.must(0, "status", "alice~dev").stdout, "may only stop")
	if n := did(run, "start", id) + did(run, "stop", id); n > 0 {
		t.Errorf("the loop has worked %d times", n)
	}
	if strings.Contains(run.stderr.String(), `"msg":"audit","action":"delete"`) &&
		!strings.Contains(run.stderr.String(), `"recordedBy"`) {
		t.Errorf("the audit does not say who wrote the record:\n%s", run.stderr.String())
	}
	claims, err := w.CoreV1().PersistentVolumeClaims(w.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(claims.Items) == 0 || claims.Items[0].DeletionTimestamp != nil {
		t.Errorf("%d claims, %v", len(claims.Items), err)
	}

	// Without its record it would be adopted and started.
	forgetter := w.as(w.role(rbac.Named(rbac.Delete)))
	if client, err = kubernetes.NewForConfig(forgetter.limited); err != nil {
		t.Fatal(err)
	}
	w.refusedByGuard("deleting it, to have it started",
		client.CoreV1().ConfigMaps(w.namespace).Delete(t.Context(), name, metav1.DeleteOptions{}))

	// The permission to delete is enough for that; the loop deletes the record.
	forgetter.must(0, "delete", "alice~dev", "--yes")
	w.eventually("its record is gone", func() bool {
		_, err := w.CoreV1().ConfigMaps(w.namespace).Get(t.Context(), name, metav1.GetOptions{})
		return apierrors.IsNotFound(err)
	})
	w.nothingIsLeft()
}

// Anyone who may write Secrets alone has no pod started from what they write into Helm's record.
func TestRecordsOfHelm(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	w.must(0, "stop", "alice~plain")
	id := w.idOf("alice~plain")
	w.runLoop()
	theirs := release.Records{Secrets: w.writer("secrets").CoreV1().Secrets(w.namespace), Namespace: w.namespace}
	record, err := theirs.Latest(t.Context(), id)
	if err != nil || record == nil {
		t.Fatal(err)
	}
	own, _ := record.Config["berth"].(map[string]any)
	if own == nil {
		t.Fatalf("the record has no values of berth's: %v", record.Config)
	}
	own["securityContext"] = map[string]any{"privileged": true}
	w.refusedByGuard("a change", theirs.Update(t.Context(), record))
	delete(record.Labels, release.LabelGuarded)
	w.refusedByGuard("a change without the label", theirs.Update(t.Context(), record))
	record.Version++
	record.Labels = map[string]string{release.LabelGuarded: "pods"}
	w.refusedByGuard("another revision", theirs.Create(t.Context(), record))
	w.refusedByGuard("deleting it", theirs.Secrets.Delete(t.Context(), recordOf(id), metav1.DeleteOptions{}))
	record.Labels = nil
	if err := theirs.Create(t.Context(), record); err != nil { // as Helm writes one of any release
		t.Fatal(err)
	}
	started := func(by string) {
		t.Helper()
		pod := w.pod(id)
		for _, c := range pod.Spec.Containers {
			if s := c.SecurityContext; s != nil && s.Privileged != nil && *s.Privileged {
				t.Errorf("%s starts what somebody has added beside the record", by)
			}
		}
	}
	w.wants(id, v1.DesiredRunning)
	w.becomes(id, v1.DesiredRunning, v1.ActualRunning)
	started("the loop")
	w.must(0, "restart", "alice~plain")
	started("a command")
	w.must(0, "update", "alice~plain", "--yes", "--set", "env.A=b") // the next revision is after theirs
	latest, err := theirs.Latest(t.Context(), id)
	if err != nil || latest.Version <= record.Version || !release.IsGuarded(latest) {
		t.Errorf("%v, revision %d", err, latest.Version)
	}
	w.must(0, "delete", "alice~plain")
	w.nothingIsLeft()
}

// What is started from a record that others may have written is not recorded as what the author of
// the command has written.
func TestRecordOfOthersIsNotVouchedFor(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	w.must(0, "stop", "alice~plain")
	id, ours := w.idOf("alice~plain"), release.Records{Secrets: w.CoreV1().Secrets(w.namespace), Namespace: w.namespace}
	record, err := ours.Latest(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	delete(record.Labels, release.LabelGuarded) // as of an earlier version
	if err := ours.Update(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	w.must(0, "start", "alice~plain")
	if record, err = ours.Latest(t.Context(), id); err != nil || release.IsGuarded(record) {
		t.Errorf("a start vouches for it: %v", err)
	}
	w.must(0, "update", "alice~plain", "--yes", "--set", "env.A=b")
	if record, err = ours.Latest(t.Context(), id); err != nil || !release.IsGuarded(record) {
		t.Errorf("an update does not: %v", err)
	}
}

// Anyone who may write ConfigMaps alone runs nothing in a workspace: not by what its pod has mounted, nor by
// what the next one would.
func TestContentOfWorkspaces(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	w.must(0, "provision", "alice~plain")
	w.must(0, "provision", tg.user("plain"))
	id := w.idOf("alice~plain")
	theirs := w.writer("configmaps").CoreV1().ConfigMaps(w.namespace)
	list, err := theirs.List(t.Context(),
		metav1.ListOptions{LabelSelector: kube.LabelCanonicalID + "," + kube.LabelUsername})
	if err != nil || len(list.Items) < 2 {
		t.Fatalf("%d ConfigMaps, %v", len(list.Items), err)
	}
	for _, item := range list.Items {
		for what, change := range map[string]string{
			"a script": `{"data": {"ready.sh": "id > /tmp/mine"}}`, "its labels": `{"metadata": {"labels": null}}`,
			"its workload": `{"metadata": {"labels": {"k8shell.io/workload-name": "mine"}}}`,
		} {
			_, err := theirs.Patch(t.Context(), item.Name, types.MergePatchType, []byte(change), metav1.PatchOptions{})
			w.refusedByGuard(item.Name+": "+what, err)
		}
		w.refusedByGuard(item.Name+": deleted", theirs.Delete(t.Context(), item.Name, metav1.DeleteOptions{}))
	}
	for what, planted := range map[string]metav1.ObjectMeta{
		"by its labels": {Name: "other", Labels: map[string]string{
			kube.LabelCanonicalID: id,
			kube.LabelUsername:    "alice",
		}},
		"by Helm's marks": {
			Name: "bob-0123abc-init-scripts", Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
			Annotations: map[string]string{
				"meta.helm.sh/release-name":      "bob-0123abc",
				"meta.helm.sh/release-namespace": w.namespace,
			},
		},
	} {
		_, err := theirs.Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: planted, Data: map[string]string{"99-mine": "id"}}, metav1.CreateOptions{})
		w.refusedByGuard("planted "+what, err)
	}
	w.must(0, "delete", "alice~plain")
	w.must(0, "delete", tg.user("plain"))
}

// Without the policy the loop does nothing, and says so.
func TestLoopDoesNotSeeTheGuard(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	blind := w.as(w.role(rbac.Named(rbac.ServeWorkspaces)), w.role(rbac.Named(rbac.ServeWorkspacesInSystem)))
	run := w.launch(blind.loop())
	run.waitFor("whether the cluster guards records is not known")
	w.contains(w.as(w.role(rbac.Developer())).must(4, "reconcile").stderr, "--trust-records")
	run.signal(os.Interrupt)
	run.wait()
	trusting := w.launch(w.as(w.role(rbac.Named(rbac.ServeWorkspaces)),
		w.role(rbac.Named(rbac.ServeWorkspacesInSystem))).loop("--trust-records"))
	trusting.waitFor("whatever is recorded is done")
}
