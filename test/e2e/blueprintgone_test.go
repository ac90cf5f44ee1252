//go:build e2e

package e2e

import (
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// A workspace whose blueprint is gone, in whichever source it was, stays if it runs, and
// starts if it was stopped. Only what takes a blueprint says that there is none.
func TestBlueprintIsGone(t *testing.T) {
	t.Parallel()
	t.Run("a file", func(t *testing.T) {
		w := newWorld(t)
		w.must(0, "provision", "alice~plain")
		gone := w.blueprints("name: plain", "name: plainer")
		w.withoutBlueprint(func(args ...string) result { return w.berth(append(args, "--blueprints", gone)...) },
			"alice~plain", 7, `blueprint "plain" not found`)
	})
	t.Run("a ConfigMap", func(t *testing.T) {
		w := newWorld(t)
		w.keep("blueprints: [{name: from-cluster, template: tiny}]")
		w.fromConfigMap("provision", "alice~from-cluster").mustBe(w, 0)
		if err := w.CoreV1().ConfigMaps(w.namespace).Delete(t.Context(), "team", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.withoutBlueprint(w.fromConfigMap, "alice~from-cluster", 7, "/team not found")
	})
	t.Run("a repository", func(t *testing.T) {
		w := newWorld(t)
		r := w.repositories()
		r.create("org/proj", "template: tiny\n")
		configuration := "identity: {providers: [{kind: kubernetes}, {kind: git, url: 'file://" + r.dir +
			"/{owner}/{name}.git'}]}\n" +
			"repositories: {url: 'http://127.0.0.1:1/{owner}/{name}.git'}\n"
		run := func(args ...string) result { return w.configured(configuration, args...) }
		run("provision", "alice~repo=org/proj").mustBe(w, 0)
		if err := os.RemoveAll(r.dir); err != nil {
			t.Fatal(err)
		}
		w.withoutBlueprint(run, "alice~repo=org/proj", 7, "org/proj")
	})
	t.Run("in a workload", func(t *testing.T) {
		w := newWorld(t)
		web := w.workload("deployment", 1, nil)
		w.must(0, "provision", web.user("plain"))
		gone := w.blueprints("name: plain", "name: plainer")
		w.withoutBlueprint(func(args ...string) result { return w.berth(append(args, "--blueprints", gone)...) },
			web.user("plain"), 7, `blueprint "plain" not found`)
	})
}

// withoutBlueprint shows what becomes of a workspace that runs when nothing can be made of
// its blueprint any more.
func (w *world) withoutBlueprint(run func(args ...string) result, user string, status int, says string) {
	w.Helper()
	r := run("provision", user, "--if-not-exists")
	r.mustBe(w, 0)
	w.contains(r.stderr, "what its blueprint says now is not known", says)
	run("provision", user).mustBe(w, 6)
	w.contains(run("update", user).stderr, says)
	run("update", user).mustBe(w, status)
	w.must(0, "stop", user)
	r = run("provision", user, "-o", "json")
	r.mustBe(w, 0)
	if one := decode[v1.Workspace](w, r); one.Stage != v1.StageRunning {
		w.Errorf("%+v", one)
	}
	w.contains(r.stderr, "what its blueprint says now is not known", says)
	w.must(0, "exec", user, "--", "true")
	w.must(0, "delete", user)
	run("provision", user).mustBe(w, status)
}

// A storage class that does not exist is corrected in the blueprint: a claim that never had a
// volume is made again, by an update of the pod that waits for it, and by a provisioning of
// one whose pod is gone.
func TestStorageClassThatIsCorrected(t *testing.T) {
	w := newWorld(t)
	corrected := w.blueprints("storageClassName: no-such-class, ", "")
	stuck := func() {
		t.Helper()
		r := w.must(3, "provision", "alice~classless", "--stuck-after", "3s")
		w.contains(r.stderr, "StorageClassMissing", "berth update alice~classless")
	}
	stuck()
	w.contains(w.must(3, "provision", "alice~classless", "--stuck-after", "3s", "--blueprints", corrected).stderr,
		"berth update alice~classless")
	dry := w.must(0, "update", "alice~classless", "--blueprints", corrected, "--dry-run=server")
	w.contains(dry.stdout, "# delete persistentvolumeclaim/", "# create persistentvolumeclaim/")
	r := w.must(0, "update", "alice~classless", "--yes", "--blueprints", corrected)
	w.contains(r.stderr, "storage data is made again as its blueprint says: it never had a volume")
	w.must(0, "exec", "alice~classless", "--", "sh", "-c", "echo data > /data/file; sync")
	one := w.updated("alice~classless", "--blueprints", corrected)
	if len(one.Update.Changes) > 0 {
		t.Errorf("%+v", one.Update)
	}
	w.contains(w.must(3, "update", "alice~classless", "--yes").stderr, "storage data cannot be changed")
	w.must(0, "exec", "alice~classless", "--", "grep", "data", "/data/file")
	w.must(0, "delete", "alice~classless", "--yes")

	stuck()
	w.must(0, "delete", "alice~classless", "--yes", "--keep-storage")
	w.must(0, "provision", "alice~classless", "--blueprints", corrected)
	w.must(0, "delete", "alice~classless", "--yes")
	w.nothingIsLeft()
}

// So it is in the pods of a workload.
func TestStorageClassThatIsCorrectedInAWorkload(t *testing.T) {
	w := newWorld(t)
	web := w.workload("deployment", 1, nil)
	before, user := web.template(), web.user("classless")
	w.must(3, "provision", user, "--stuck-after", "3s")
	w.must(0, "update", user, "--yes", "--blueprints", w.blueprints("storageClassName: no-such-class, ", ""))
	w.must(0, "exec", user, "--", "sh", "-c", "echo data > /data/file")
	w.must(0, "delete", user, "--yes")
	web.clean(before)
}
