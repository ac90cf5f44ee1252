//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

const otherImage = "registry.example.com/berth/workspace:v2"

// updated is the document of an update.
func (w *world) updated(args ...string) v1.Workspace {
	w.Helper()
	one := decode[v1.Workspace](w, w.must(0, append([]string{"update", "-o", "json"}, args...)...))
	if one.Update == nil {
		w.Fatalf("it does not say what was changed: %+v", one)
	}
	return one
}

// An update replaces the pod of a workspace that is not what its blueprint says now, and
// nothing of one that is; the storage stays.
func TestUpdate(t *testing.T) {
	w := newWorld(t)
	w.must(7, "update", "alice~dev")
	w.must(0, "provision", "alice~dev", "--update")
	w.must(0, "exec", "alice~dev", "--", "sh", "-c", "echo data > /home/dev/file; sync")
	id := w.idOf("alice~dev")
	before, versions := w.pod(id).UID, w.revisions(id)
	unchanged := func(why string) {
		t.Helper()
		if w.pod(id).UID != before || w.revisions(id) != versions {
			t.Errorf("%s: there was %s %s, and is %s %s", why, before, versions, w.pod(id).UID, w.revisions(id))
		}
	}
	if one := w.updated("alice~dev"); len(one.Update.Changes) > 0 || one.Stage != v1.StageRunning {
		t.Errorf("%+v", one)
	}
	unchanged("nothing differs")
	for _, mode := range []string{"client", "server"} {
		r := w.must(0, "update", "alice~dev", "--image", otherImage, "--dry-run="+mode)
		w.contains(r.stdout, "# delete pod/"+id, "# create pod/"+id, otherImage,
			"# create secret/sh.helm.release.v1."+id+
				".v2")
		w.contains(r.stderr, "→ "+otherImage, "Nothing was changed")
		unchanged("a dry run")
	}
	w.contains(w.must(6, "provision", "alice~dev", "--image", otherImage).stderr,
		"apply them with `berth update alice~dev`")
	unchanged("a provisioning")

	one := w.updated("alice~dev", "--image", otherImage, "--set", "env.ADDED=yes")
	if len(one.Update.Changes) != 2 || one.Update.Revision != 2 || one.Stage != v1.StageRunning {
		t.Errorf("%+v, %+v", one, one.Update)
	}
	if pod := w.pod(id); pod.UID == before || pod.Spec.Containers[0].Image != otherImage {
		t.Errorf("the pod is %s, of %s", pod.UID, pod.Spec.Containers[0].Image)
	}
	if r := w.must(0, "exec", "alice~dev", "--", "sh", "-c",
		"cat /home/dev/file; echo $ADDED"); r.stdout != "data\nyes\n" {
		t.Errorf("there is %q", r.stdout)
	}
	w.contains(w.helm("history", id), "superseded", "Upgrade complete")
	w.contains(w.helm("list"), id, "deployed")

	w.must(0, "stop", "alice~dev")
	w.must(0, "start", "alice~dev")
	if image := w.pod(id).Spec.Containers[0].Image; image != otherImage {
		t.Errorf("started, it is of %s", image)
	}
	w.must(0, "stop", "alice~dev")
	if one := w.updated("alice~dev"); one.Update.Revision != 3 || one.Stage != v1.StageRunning || one.State != nil &&
		one.State.Desired != v1.DesiredRunning {
		t.Errorf("one that was stopped: %+v, %+v", one, one.Update)
	}
	if image := w.pod(id).Spec.Containers[0].Image; image == otherImage {
		t.Errorf("updated, it is of %s", image)
	}
	w.must(0, "exec", "alice~dev", "--", "grep", "data", "/home/dev/file")
	w.must(0, "delete", "alice~dev")
	w.nothingIsLeft()
}

// revisions are Helm's records and their versions.
func (w *world) revisions(id string) string {
	w.Helper()
	list, err := w.CoreV1().Secrets(w.namespace).
		List(w.Context(), metav1.ListOptions{LabelSelector: "owner=helm,name=" + id})
	if err != nil {
		w.Fatal(err)
	}
	var all []string
	for _, s := range list.Items {
		all = append(all, fmt.Sprintf("%s=%s", s.Name, s.ResourceVersion))
	}
	return strings.Join(all, " ")
}

// An update that the cluster would refuse leaves the workspace as it runs; one whose pod
// fails says what stands, and is made good by the next one.
func TestUpdateThatFails(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~data")
	w.must(0, "exec", "alice~data", "--", "sh", "-c", "echo data > /data/file; sync")
	id := w.idOf("alice~data")
	before, versions := w.pod(id), w.revisions(id)
	refused := func(code string, args ...string) v1.Error {
		t.Helper()
		r := w.berth(append([]string{"update", "alice~data", "-o", "json"}, args...)...)
		e := decode[v1.Error](w, r)
		if pod := w.pod(id); e.Code != code || pod == nil || pod.UID != before.UID || pod.DeletionTimestamp != nil ||
			w.revisions(id) != versions {
			t.Errorf("%v: %+v, the pod is %+v", args, e, pod)
		}
		return e
	}
	w.quota(corev1.ResourceList{
		corev1.ResourcePods:        resource.MustParse("1"),
		corev1.ResourceRequestsCPU: resource.MustParse("20m"),
	})
	w.contains(refused("FAILED", "--set", "resources.cpu=50m").Message, "exceeded quota", "requests.cpu")
	w.must(0, "update", "alice~data", "--set", "resources.cpu=15m") // for which the old one has to go first
	before, versions = w.pod(id), w.revisions(id)

	w.restrict()
	w.contains(refused("FAILED", "--set", "env.X=y").Message, "violates PodSecurity")
	w.allow()

	smaller := w.blueprints("8Mi", "4Mi")
	w.contains(refused("FAILED", "--blueprints", smaller).Message, "storage data cannot be changed",
		"is 8Mi, the blueprint says 4Mi")
	larger := w.blueprints("8Mi", "16Mi")
	w.contains(refused("FAILED", "--blueprints", larger).Message, "storage data cannot grow from 8Mi to 16Mi")
	other := w.blueprints("[ReadWriteOnce], resources: {requests: {storage: 8Mi",
		"[ReadWriteMany], resources: {requests: {storage: 8Mi")
	w.contains(refused("FAILED", "--blueprints", other).Message, "accessModes is [ReadWriteOnce]")

	failed := decode[v1.Error](w, w.must(3, "update", "alice~data", "--image",
		"registry.example.com/berth/workspace:none", "-o", "json"))
	if failed.Left != v1.LeftKept || failed.Workspace == nil || failed.Workspace.Cause == nil ||
		failed.Workspace.Update == nil {
		t.Errorf("%+v", failed)
	}
	w.contains(failed.Hint, "berth update alice~data --rollback")
	w.must(0, "update", "alice~data", "--rollback")
	if image := w.pod(id).Spec.Containers[0].Image; image != before.Spec.Containers[0].Image {
		t.Errorf("rolled back, it is of %s", image)
	}
	w.must(0, "exec", "alice~data", "--", "grep", "data", "/data/file")
}

// quota allows no more than this in the namespace.
func (w *world) quota(hard corev1.ResourceList) {
	w.Helper()
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "q-"},
		Spec:       corev1.ResourceQuotaSpec{Hard: hard},
	}
	made, err := w.CoreV1().ResourceQuotas(w.namespace).Create(w.Context(), quota, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
	w.eventually("the quota counts", func() bool {
		q, err := w.CoreV1().ResourceQuotas(w.namespace).Get(w.Context(), made.Name, metav1.GetOptions{})
		return err == nil && len(q.Status.Used) > 0
	})
}

// restrict lets the namespace take only pods that are confined, allow any.
func (w *world) restrict() { w.podSecurity("restricted") }
func (w *world) allow()    { w.podSecurity("privileged") }

func (w *world) podSecurity(level string) {
	w.Helper()
	namespace, err := w.CoreV1().Namespaces().Get(w.Context(), w.namespace, metav1.GetOptions{})
	if err == nil {
		namespace.Labels["pod-security.kubernetes.io/enforce"] = level
		_, err = w.CoreV1().Namespaces().Update(w.Context(), namespace, metav1.UpdateOptions{})
	}
	if err != nil {
		w.Fatal(err)
	}
}

// blueprints are the test's, with one text in place of another.
func (w *world) blueprints(old, by string) string {
	w.Helper()
	dir := w.TempDir()
	text, err := os.ReadFile("testdata/blueprints/team.yaml")
	if err != nil {
		w.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), old, by)
	if changed == string(text) {
		w.Fatalf("there is no %q", old)
	}
	if err := os.WriteFile(filepath.Join(dir, "team.yaml"), []byte(changed), 0o600); err != nil {
		w.Fatal(err)
	}
	return dir
}

// A storage grows if its class allows that, with the workspace that has it.
func TestUpdateGrowsStorage(t *testing.T) {
	w := newWorld(t)
	class := &storagev1.StorageClass{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "growing-"}, Provisioner: w.defaultProvisioner(),
		AllowVolumeExpansion: new(true),
		VolumeBindingMode:    new(storagev1.VolumeBindingImmediate),
	}
	class, err := w.StorageV1().StorageClasses().Create(t.Context(), class, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.StorageV1().StorageClasses().Delete(t.Context(), class.Name, metav1.DeleteOptions{}) })
	sized := func(size string) string {
		return w.blueprints("claimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 8Mi}}}",
			"claimSpec: {storageClassName: "+class.Name+", accessModes: [ReadWriteOnce], resources: "+
				"{requests: {storage: "+
				size+"}}}")
	}
	w.must(0, "provision", "alice~data", "--blueprints", sized("8Mi"))
	one := w.updated("alice~data", "--blueprints", sized("16Mi"))
	if len(one.Update.Storage) != 1 || one.Update.Storage[0].To != "16Mi" || one.Update.Storage[0].Name != "data" {
		t.Errorf("%+v", one.Update)
	}
	claim, err := w.CoreV1().PersistentVolumeClaims(w.namespace).
		Get(t.Context(), one.Update.Storage[0].Claim, metav1.GetOptions{})
	if err != nil || claim.Spec.Resources.Requests.Storage().String() != "16Mi" {
		t.Errorf("%+v, %v", claim, err)
	}
}

// defaultProvisioner is that of the cluster's default storage class.
func (w *world) defaultProvisioner() string {
	w.Helper()
	classes, err := w.StorageV1().StorageClasses().List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	i := slices.IndexFunc(classes.Items, func(c storagev1.StorageClass) bool {
		return c.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
	})
	if i < 0 {
		w.Fatal("no default storage class found")
	}
	return classes.Items[i].Provisioner
}

// A workspace in a workload is updated by one patch, also one that is stopped; afterwards
// the template is as it was.
func TestUpdateInWorkload(t *testing.T) {
	w := newWorld(t)
	tg := w.workload("deployment", 1, nil)
	before, user := tg.template(), tg.user("data")
	w.must(0, "provision", user)
	w.must(0, "exec", user, "--", "sh", "-c", "echo data > /data/file; sync")
	template := tg.template()
	if one := w.updated(user); len(one.Update.Changes) > 0 || tg.template() != template {
		t.Errorf("%+v", one)
	}
	generation := tg.get().GetGeneration()
	one := w.updated(user, "--image", otherImage)
	if len(one.Update.Changes) != 1 || tg.get().GetGeneration() != generation+1 ||
		!strings.Contains(tg.template(), otherImage) {
		t.Errorf("%+v: %+v, generation %d after %d", one, one.Update, tg.get().GetGeneration(), generation)
	}
	w.must(0, "exec", user, "--", "grep", "data", "/data/file")
	w.must(0, "stop", user)
	one = w.updated(user, "--set", "env.X=y", "--image", otherImage)
	if len(one.Update.Changes) != 1 || one.Stage != v1.StageRunning {
		t.Errorf("%+v: %+v", one, one.Update)
	}
	w.must(0, "restart", user)
	if r := w.must(0, "exec", user, "--", "sh", "-c", "cat /data/file; echo $X"); r.stdout != "data\ny\n" {
		t.Errorf("there is %q", r.stdout)
	}
	w.must(0, "delete", user)
	tg.clean(before)
}
