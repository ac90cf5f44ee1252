//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/volume"
)

// scratchBlueprint has a storage of type scratch.
const scratchBlueprint = `blueprints: [{name: kept, template: base,
  image: "registry.example.com/berth/workspace:v1", helperImage: "registry.example.com/berth/workspace:v1",
  resources: {cpu: 10m, memory: 32Mi}, storages: {build: {type: scratch, path: /build, afterlife: 6h}}}]`

// fill fills a directory with files that are worth comparing, and sums sums them up.
const (
	fill = `cd "$1" && mkdir -p a/b empty && head -c 3000000 /dev/urandom >a/b/large && echo x >"a/with blank" && ln ` +
		`-s b/large a/link && ln a/b/large same && chmod 640 same && chmod 750 a`
	sums = `export LC_ALL=C; cd "$1" && find . | sort && find . -type f | sort | while read -r f; do sha256sum "$f"; ` +
		`done && readlink a/link && stat -c '%a %n' a same`
)

// A workspace with a scratch storage, from the refusal without the driver to the removal of
// what it has left. The commands have exactly the Roles of docs/rbac.md.
func TestScratchStorage(t *testing.T) {
	w := newWorld(t)
	dir := w.TempDir()
	w.write(dir, "kept.yaml", scratchBlueprint)
	developer := w.as(w.role(rbac.Developer()), clusterRole(rbac.Named(rbac.ScratchStorages)))
	refused := developer.must(2, "provision", "alice~kept", "--blueprints", dir).stderr
	w.contains(refused, "storage build is of type scratch, and the cluster has no CSI driver scratch.berth.dev",
		"berth serve manifests volumes", "blueprint kept")
	if left := w.leftovers(); len(left) > 0 {
		t.Errorf("something was made: %s", left)
	}
	w.scratchDriver()
	w.item(w.as(w.role(rbac.Developer()), clusterRole(rbac.Named("doctor"))).must(0, "doctor", "-o", "json"), "scratch",
		v1.CheckupOK, "runs on 1 of 1 nodes")

	first := decode[v1.Workspace](w, developer.must(0, "provision", "alice~kept", "--blueprints", dir, "-o", "json")).ID
	developer.must(0, "exec", "alice~kept", "--", "sh", "-c", fill, "sh", "/build")
	want := developer.must(0, "exec", "alice~kept", "--", "sh", "-c", sums, "sh", "/build").stdout
	changed := developer.must(0, "update", "alice~kept", "--blueprints", w.again(dir, "afterlife: 6h", "afterlife: 5h"),
		"-o", "json").stdout
	w.contains(changed, "storages.build.attributes.afterlife 6h → 5h")
	left := w.volumes("alice~kept", 1)[0]
	if left.Workspace != first || left.UserString != "alice~kept" || left.Storage != "build" || left.Pod != first ||
		left.Namespace != w.namespace || left.LifespanSeconds != 6*3600 {
		t.Errorf("%+v", left)
	}
	w.restores(developer, left, want)

	target := w.workload("deployment", 1, nil)
	injected := target.user("kept")
	developer = w.as(w.role(rbac.Developer()), w.role(rbac.Named(rbac.Inject)),
		clusterRole(rbac.Named(rbac.ScratchStorages)))
	developer.must(0, "provision", injected, "--blueprints", dir)
	developer.must(0, "exec", injected, "--", "sh", "-c", "echo injected >/build/file")
	developer.must(0, "delete", injected, "--yes")
	inWorkload := w.volumes(injected, 1)[0]
	if !strings.HasPrefix(inWorkload.Pod, "web-") || inWorkload.Storage != "build" {
		t.Errorf("%+v", inWorkload)
	}
	w.eventually("the workload is as it was", func() bool { return target.ready() == 1 })

	purger := w.as(w.role(rbac.Named(rbac.VolumePurge)))
	purger.must(0, "volume", "purge", "--driver-namespace", w.namespace, "--yes", left.ID)
	w.volumes("alice~kept", 0)
	purger.must(0, "volume", "purge", "--driver-namespace", w.namespace, "--yes", "--all-of", injected)
	w.volumes(injected, 0)
	w.contains(w.output("logs", "--selector", "app.kubernetes.io/component=volumes", "--tail", "200"),
		`"msg":"audit","did":"restore","volume":"`+left.ID, `"msg":"audit","did":"purge","volume":"`+left.ID,
		`"claimedUser":"system:serviceaccount:`+w.namespace)
	refusal := w.as(w.role(rbac.Developer())).must(4, "volume", "list", "--driver-namespace", "kube-system").stderr
	w.contains(refusal, "list pods", "kube-system")
	w.refusesWithout(developer, dir)
	developer.must(0, "delete", "alice~kept", "--yes")
}

// refusesWithout takes the driver's object away: what makes pods of a workspace that has a scratch storage is refused
// as its provisioning was, and the workspace stays as it is.
func (w *world) refusesWithout(developer *world, dir string) {
	w.Helper()
	const missing = "storage build is of type scratch, and the cluster has no CSI driver scratch.berth.dev"
	w.kubectl("delete", "csidriver", volume.DriverName)
	before := w.output("get", "pods", "--output", "jsonpath={.items[*].metadata.uid}")
	w.contains(developer.must(2, "restart", "alice~kept").stderr, missing, "blueprint kept")
	w.contains(developer.must(2, "update", "alice~kept", "--rollback").stderr, missing)
	w.contains(developer.must(2, "update", "alice~kept", "--blueprints", dir).stderr, missing)
	if after := w.output("get", "pods", "--output", "jsonpath={.items[*].metadata.uid}"); after != before {
		w.Errorf("there are the pods %q, before %q", after, before)
	}
	developer.must(0, "stop", "alice~kept")
	w.contains(developer.must(2, "start", "alice~kept").stderr, missing)
	w.contains(developer.must(2, "restart", "alice~kept").stderr, missing)
}

// restores gets a volume to a directory and into a workspace, byte for byte.
func (w *world) restores(developer *world, left v1.Volume, want string) {
	w.Helper()
	administrator := w.as(w.role(rbac.Named(rbac.VolumeRestore)))
	short := strings.TrimPrefix(left.ID, "csi-")[:10]
	to := filepath.Join(w.TempDir(), "back")
	done := decode[v1.VolumeRestoration](w,
		administrator.must(0, "volume", "restore", short, "--driver-namespace", w.namespace, "--to", to, "-o", "json"))
	if got := w.local(sums, to); got != want || done.Files != 3 || done.Destination != to {
		w.Errorf("%+v\n%s\nwant\n%s", done, got, want)
	}
	w.contains(administrator.must(6, "volume", "restore", short, "--driver-namespace", w.namespace, "--to", to).stderr,
		"is not empty", "--overwrite")

	both := w.as(w.role(rbac.Named(rbac.VolumeRestore)), w.role(rbac.Named("cp")))
	both.must(0, "volume", "restore", short, "--driver-namespace", w.namespace, "--into", "alice~kept:/build/back")
	if got := developer.must(0, "exec", "alice~kept", "--", "sh", "-c", sums, "sh", "/build/back").stdout; got != want {
		w.Errorf("%s\nwant\n%s", got, want)
	}
	w.contains(both.must(6, "volume", "restore", short, "--driver-namespace", w.namespace, "--into",
		"alice~kept:/build/back").stderr, "is not empty")
}

// scratchDriver runs the driver on the node under its usual name, in the namespace of the
// test.
func (w *world) scratchDriver() {
	w.Helper()
	admin := *w
	admin.kubeconfig, admin.limited = w.admin, w.config
	s := &scratch{world: &admin, driver: volume.DriverName, directory: "/var/lib/berth-" + w.namespace}
	file := w.write(w.TempDir(), "driver.yaml", admin.must(0, "serve", "manifests", "volumes",
		"--image", "registry.example.com/berth/berth:"+w.program(binary), "--directory", s.directory,
		"--prune-interval",
		"1s").stdout)
	w.Cleanup(func() {
		if w.Failed() {
			w.Logf("the driver says:\n%s", w.output("logs", "--selector", "app.kubernetes.io/component=volumes",
				"--tail", "60"))
			w.Logf("events:\n%s", w.output("get", "events"))
		}
		w.kubectl("delete", "daemonset", "berth-volumes", "--cascade=foreground", "--timeout=60s")
		w.kubectl("delete", "csidriver", s.driver, "--ignore-not-found")
	})
	w.kubectl("apply", "--server-side", "-f", file)
	s.ready()
}

// volumes waits until so many volumes of a workspace are in their afterlife.
func (w *world) volumes(of string, n int) []v1.Volume {
	w.Helper()
	administrator := w.as(w.role(rbac.Named(rbac.VolumeList)))
	var list v1.VolumeList
	w.eventually("the volumes of "+of+" are listed", func() bool {
		list = decode[v1.VolumeList](w,
			administrator.must(0, "volume", "list", "--driver-namespace", w.namespace, "--of", of, "-o", "json"))
		return len(list.Items) == n
	})
	return list.Items
}

// again is the directory of blueprints with a change.
func (w *world) again(dir, old, changed string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "kept.yaml"))
	if err != nil {
		w.Fatal(err)
	}
	other := w.TempDir()
	w.write(other, "kept.yaml", strings.ReplaceAll(string(text), old, changed))
	return other
}

// local runs a script on this machine.
func (w *world) local(script, arg string) string {
	w.Helper()
	out, err := exec.Command("sh", "-c", script, "sh", arg).CombinedOutput()
	if err != nil {
		w.Errorf("%v: %s", err, out)
	}
	return string(out)
}
