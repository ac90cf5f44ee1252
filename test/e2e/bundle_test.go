//go:build e2e

package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// newBundles is a world whose caller may do everything, as who installs bundles needs
// whatever these contain. Its namespace is also the system namespace.
func newBundles(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.kubeconfig, w.limited = w.admin, w.config
	return w
}

// instance is the name of the one instance of a world: instances are in no namespace.
func (w *world) instance() string { return "b-" + w.namespace }

// bundle runs a command about the instance of the world.
func (w *world) bundle(status int, verb string, args ...string) result {
	w.Helper()
	return w.must(status, append([]string{"bundle", verb, w.instance(), "--system-namespace", w.namespace}, args...)...)
}

// plain writes a bundle of manifests.
func (w *world) plain(manifests ...string) string {
	w.Helper()
	dir := w.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "manifests"), 0o755); err != nil {
		w.Fatal(err)
	}
	w.write(filepath.Join(dir, "manifests"), "all.yaml", strings.Join(manifests, "\n---\n"))
	return dir
}

func configMap(name, text string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, data: {text: %q}}`, name, text)
}

// texts are what the ConfigMaps of the bundle say.
func (w *world) texts() map[string]string {
	w.Helper()
	list, err := w.CoreV1().ConfigMaps(w.namespace).List(w.Context(), metav1.ListOptions{LabelSelector: "core.rukpak.io/owner-name=" + w.instance()})
	if err != nil {
		w.Fatal(err)
	}
	texts := map[string]string{}
	for _, c := range list.Items {
		texts[c.Name] = c.Data["text"]
	}
	return texts
}

func (w *world) says(want map[string]string) {
	w.Helper()
	if got := w.texts(); fmt.Sprint(got) != fmt.Sprint(want) {
		w.Errorf("the bundle has installed %v, want %v", got, want)
	}
}

// uninstalled makes sure that nothing of the instance is left.
func (w *world) uninstalled() {
	w.Helper()
	w.bundle(0, "uninstall", "--ignore-not-found")
	w.says(map[string]string{})
	w.bundle(7, "status")
	secrets, err := w.CoreV1().Secrets(w.namespace).List(w.Context(), metav1.ListOptions{LabelSelector: "owner=helm"})
	if err != nil || len(secrets.Items) > 0 {
		w.Errorf("the release is left: %v, %v", secrets.Items, err)
	}
	w.eventually("the uploads are gone", func() bool {
		uploads, err := w.CoreV1().ConfigMaps(w.namespace).List(w.Context(), metav1.ListOptions{LabelSelector: "berth.dev/bundle"})
		return err == nil && len(uploads.Items) == 0
	})
	leases, err := w.CoordinationV1().Leases(w.namespace).List(w.Context(), metav1.ListOptions{})
	if err != nil || len(leases.Items) > 0 {
		w.Errorf("a lock is left: %v, %v", leases.Items, err)
	}
}

// Installed, upgraded, upgraded to something broken, upgraded again, uninstalled.
func TestBundleFromBeginningToEnd(t *testing.T) {
	w := newBundles(t)
	first := w.plain(configMap("a", "one {{ literal }}"), configMap("gone", "x"))
	i := decode[v1.BundleInstallation](w, w.bundle(0, "install", first, "-o", "json"))
	if i.Action != v1.BundleInstalled || i.Objects.Created != 2 || !i.Healthy || i.Revision != 1 {
		t.Errorf("%+v", i)
	}
	again := decode[v1.BundleInstallation](w, w.bundle(0, "install", first, "-o", "json"))
	if again.Action != v1.BundleUnchanged || again.Bundle != i.Bundle || again.Revision != 1 {
		t.Errorf("%+v", again)
	}
	if most := 13; again.Timing.Requests > most { // of which one is a watch
		t.Errorf("an upgrade that changes nothing takes %d requests, want at most %d", again.Timing.Requests, most)
	}
	second := w.plain(configMap("a", "two"))
	w.contains(w.bundle(0, "diff", second).stdout, "delete configmap/gone", `-  text: one {{ literal }}`, `+  text: two`)
	w.contains(w.bundle(0, "install", second, "--dry-run=server").stdout, "# update configmap/a", "# delete configmap/gone")
	w.says(map[string]string{"a": "one {{ literal }}", "gone": "x"})
	w.bundle(0, "install", second)
	w.says(map[string]string{"a": "two"})

	broken := w.plain(configMap("a", "three"), configMap("b", "new"), `{apiVersion: v1, kind: Service, metadata: {name: broken}, spec: {type: Nonsense}}`)
	w.contains(w.bundle(3, "install", broken).stderr, "Nonsense", "what was installed before is back")
	w.says(map[string]string{"a": "two"})
	state := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json"))
	if state.State != v1.BundleFailed || len(state.Bundles) != 2 || len(state.Objects) != 1 {
		t.Errorf("%+v", state)
	}
	w.bundle(0, "install", w.plain(configMap("a", "four")))
	w.says(map[string]string{"a": "four"})
	state = decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json"))
	if state.State != v1.BundleHealthy || len(state.Bundles) != 1 {
		t.Errorf("%+v", state)
	}
	w.contains(w.helm("list"), w.instance(), "deployed")
	w.contains(w.helm("history", w.instance()), "superseded", "failed", "deployed")
	w.uninstalled()
}

// What others have changed is put right; a field that another program owns is not taken
// without being told to.
func TestBundleDrift(t *testing.T) {
	w := newBundles(t)
	dir := w.plain(configMap("a", "one"), configMap("b", "one"))
	w.bundle(0, "install", dir)
	w.kubectl("patch", "configmap", "a", "--namespace", w.namespace, "--type", "merge", "--patch", `{"data":{"text":"changed"}}`)
	w.kubectl("delete", "configmap", "b", "--namespace", w.namespace)
	w.bundle(0, "install", dir)
	w.says(map[string]string{"a": "one", "b": "one"})
	w.kubectl("patch", "configmap", "a", "--namespace", w.namespace, "--type", "merge", "--patch", `{"data":{"text":"theirs"}}`)
	next := w.plain(configMap("a", "two"), configMap("b", "one"))
	w.contains(w.bundle(6, "install", next).stderr, "configmap/a", ".data.text")
	w.bundle(0, "install", next, "--force-conflicts")
	w.says(map[string]string{"a": "two", "b": "one"})
	w.uninstalled()
}

// Definitions and their objects in one bundle; the definitions outlive it, unless they are
// asked for.
func TestBundleOfDefinitions(t *testing.T) {
	w := newBundles(t)
	group := w.namespace + ".example.com"
	dir := w.plain(fmt.Sprintf(`{apiVersion: %s/v1, kind: Boat, metadata: {name: one}}`, group), fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Boat, listKind: BoatList, plural: boats, singular: boat}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}]
`, group))
	w.bundle(0, "install", dir)
	w.contains(w.bundle(0, "uninstall").stderr, "kept", "boats."+group)
	w.bundle(0, "install", dir)
	w.contains(w.bundle(0, "uninstall", "--delete-crds").stderr, "1 of boats."+group)
	w.uninstalled()
}

// A chart with values and a hook, and a release that helm reads.
func TestBundleOfAChart(t *testing.T) {
	w := newBundles(t)
	dir := w.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "templates"), 0o755); err != nil {
		t.Fatal(err)
	}
	w.write(dir, "Chart.yaml", "{apiVersion: v2, name: web, version: 1.2.3}")
	w.write(dir, "values.yaml", "greeting: hello")
	w.write(filepath.Join(dir, "templates"), "all.yaml", `
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {text: "{{ .Values.greeting }}{{ if .Release.IsUpgrade }} again{{ end }}"}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: "{{ .Release.Name }}-hook"
  annotations: {helm.sh/hook: pre-install, helm.sh/hook-delete-policy: hook-succeeded}
spec: {backoffLimit: 0, template: {spec: {restartPolicy: Never, containers: [{name: x, image: `+workspaceImage+`, command: ["true"]}]}}}
`)
	w.bundle(0, "install", dir)
	w.says(map[string]string{w.instance(): "hello"})
	values := w.write(w.TempDir(), "values.yaml", "greeting: moin")
	w.bundle(0, "install", dir, "--values", values)
	w.says(map[string]string{w.instance(): "moin again"})
	w.contains(w.helm("get", "values", w.instance()), "greeting: moin")
	w.contains(w.helm("list"), "web-1.2.3")
	w.uninstalled()
}

// The published bundle of an operator, whose image is one that exists here.
func TestBundleOfAnOperator(t *testing.T) {
	w := newBundles(t)
	dir := filepath.Join(w.TempDir(), "bundle")
	if err := os.CopyFS(dir, os.DirFS("../testdata/bundles/prometheus-operator-0.47.0")); err != nil {
		t.Fatal(err)
	}
	w.bundle(0, "install", standIn(w, dir), "--timeout", "3m")
	state := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json"))
	if state.State != v1.BundleHealthy || len(state.Objects) < 10 {
		t.Errorf("%+v", state)
	}
	w.bundle(0, "uninstall", "--delete-crds", "--yes")
	w.uninstalled()
}

// standIn replaces the image of an operator, which cannot be pulled here.
func standIn(w *world, dir string) string {
	w.Helper()
	path := filepath.Join(dir, "manifests", "prometheusoperator.0.47.0.clusterserviceversion.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	changed := strings.ReplaceAll(string(text), "image: quay.io/prometheus-operator/prometheus-operator:v0.47.0",
		"image: "+workspaceImage+"\n                command: [sleep, infinity]")
	if changed == string(text) {
		w.Fatal("the operator's image is not where it was")
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		w.Fatal(err)
	}
	return dir
}

// Two upgrades at once: one wins, and the other is told.
func TestBundleTwice(t *testing.T) {
	w := newBundles(t)
	w.bundle(0, "install", w.plain(configMap("a", "one")))
	args := func(text string) []string {
		return []string{"bundle", "install", w.instance(), w.plain(configMap("a", text)), "--system-namespace", w.namespace}
	}
	a, b := w.start(args("two")...), w.start(args("three")...)
	x, y := a.wait(), b.wait()
	if x.status != 0 && y.status != 0 || x.status+y.status != 0 && x.status+y.status != 6 {
		t.Errorf("%d and %d\n%s\n%s", x.status, y.status, x.stderr, y.stderr)
	}
	w.bundle(0, "install", w.plain(configMap("a", "four")))
	w.says(map[string]string{"a": "four"})
	w.uninstalled()
}

// Killed at any of its API calls, an upgrade is completed by the next one.
func TestBundleKilled(t *testing.T) {
	prepare := func(w *world) []string {
		w.bundle(0, "install", w.plain(configMap("a", "one"), configMap("gone", "x")))
		return []string{"bundle", "install", w.instance(), w.plain(configMap("a", "two"), configMap("b", "two")), "--system-namespace", w.namespace}
	}
	var requests atomic.Int64
	w := newBundles(t)
	w.finish(w.through(prepare(w), func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		requests.Add(1)
		next.ServeHTTP(out, r)
	})).mustBe(w, 0)
	step := 4
	if os.Getenv("BERTH_TEST_TORTURE") == "full" {
		step = 1
	}
	for n := 1; n <= int(requests.Load()); n += step {
		m := moment{request: n, done: n%2 == 0}
		t.Run(m.String(), func(t *testing.T) {
			w := newBundles(t)
			args := prepare(w)
			if !w.killedAt(args, m) {
				t.Logf("it had ended before %s", m)
			}
			w.must(0, args...)
			w.says(map[string]string{"a": "two", "b": "two"})
			if state := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json")); state.State != v1.BundleHealthy || len(state.Bundles) != 1 {
				t.Errorf("%+v", state)
			}
			w.uninstalled()
		})
	}
}
