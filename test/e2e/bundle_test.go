//go:build e2e

package e2e

import (
	"context"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// newBundles is a world whose caller may do everything, as who installs bundles needs
// whatever these contain. Its namespace is also the system namespace.
func newBundles(t *testing.T) *world {
	t.Helper()
	t.Parallel()
	instances.share(t) // without a place: another may have the gate for minutes
	places.take(t)
	return newBundlesBeside(t)
}

// newBundlesBeside is newBundles for a subtest that runs in the place of its test.
func newBundlesBeside(t *testing.T) *world {
	t.Helper()
	instances.share(t)
	w := newBundlesAlone(t)
	t.Cleanup(func() {
		w.output("delete", "bundleinstances.core.rukpak.io",
			w.instance())
	}) // for a server would go on with it
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
	list, err := w.CoreV1().ConfigMaps(w.namespace).
		List(w.Context(), metav1.ListOptions{LabelSelector: "core.rukpak.io/owner-name=" + w.instance()})
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
		uploads, err := w.CoreV1().ConfigMaps(w.namespace).
			List(w.Context(), metav1.ListOptions{LabelSelector: "berth.dev/bundle"})
		return err == nil && len(uploads.Items) == 0
	})
	leases, err := w.CoordinationV1().Leases(w.namespace).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	for _, lease := range leases.Items {
		if !strings.HasPrefix(lease.Name, "berth-leader-") { // that of a server
			w.Errorf("a lock is left: %v", lease)
		}
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
	if most := 11 + w.lists(1); again.Timing.Requests > most { // of which one is a watch
		t.Errorf("an upgrade that changes nothing takes %d requests, want at most %d", again.Timing.Requests, most)
	}
	second := w.plain(configMap("a", "two"))
	w.contains(w.bundle(0, "diff", second).stdout, "delete configmap/gone", `-  text: one {{ literal }}`,
		`+  text: two`)
	w.contains(w.bundle(0, "install", second, "--dry-run=server").stdout, "# update configmap/a",
		"# delete configmap/gone")
	w.says(map[string]string{"a": "one {{ literal }}", "gone": "x"})
	w.bundle(0, "install", second)
	w.says(map[string]string{"a": "two"})

	broken := w.plain(configMap("a", "three"), configMap("b", "new"),
		`{apiVersion: v1, kind: Service, metadata: {name: broken}, spec: {type: Nonsense}}`)
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
	w.kubectl("patch", "configmap", "a", "--namespace", w.namespace, "--type", "merge", "--patch",
		`{"data":{"text":"changed"}}`)
	w.kubectl("delete", "configmap", "b", "--namespace", w.namespace)
	w.bundle(0, "install", dir)
	w.says(map[string]string{"a": "one", "b": "one"})
	w.kubectl("patch", "configmap", "a", "--namespace", w.namespace, "--type", "merge", "--patch",
		`{"data":{"text":"theirs"}}`)
	next := w.plain(configMap("a", "two"), configMap("b", "one"))
	w.contains(w.bundle(6, "install", next).stderr, "configmap/a", ".data.text", "--force-conflicts",
		"nothing has been written")
	w.says(map[string]string{"a": "theirs", "b": "one"})
	w.bundle(0, "install", next, "--force-conflicts")
	w.says(map[string]string{"a": "two", "b": "one"})
	w.uninstalled()
}

// Definitions and their objects in one bundle; the definitions outlive it, unless they are
// asked for.
func TestBundleOfDefinitions(t *testing.T) {
	w := newBundles(t)
	group := w.namespace + ".example.com"
	dir := w.plain(fmt.Sprintf(`{apiVersion: %s/v1, kind: Boat, metadata: {name: one}}`, group), kindBoat(group))
	w.bundle(0, "install", dir)
	w.contains(w.bundle(0, "uninstall").stderr, "kept", "boats."+group)
	w.bundle(0, "install", dir)
	w.contains(w.bundle(2, "uninstall", "--delete-crds").stderr, "--yes is required", "1 of boats."+group)
	w.contains(w.bundle(0, "uninstall", "--delete-crds", "--yes").stderr, "1 of boats."+group)
	w.uninstalled()
}

// kindBoat is the definition of the kind Boat.
func kindBoat(group string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: boats.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: Boat, listKind: BoatList, plural: boats, singular: boat}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`, group)
}

// defineBoat creates the definition of the kind, waits until the cluster serves it, and
// returns the file with the definition.
func (w *world) defineBoat(group string) string {
	w.Helper()
	file := w.write(w.TempDir(), "definition.yaml", kindBoat(group))
	w.kubectl("create", "--filename", file)
	w.eventually("the kind is served", func() bool {
		_, err := w.Discovery().ServerResourcesForGroupVersion(group + "/v1")
		return err == nil
	})
	return file
}

// What is uninstalled is waited for; a run that gives up says what holds it, and the next run
// goes on from there.
func TestBundleThatIsHeld(t *testing.T) {
	w := newBundles(t)
	w.bundle(0, "install", w.plain(configMap("a", "one"),
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/slow]}}`))
	w.contains(w.bundle(5, "uninstall", "--timeout", "12s").stderr, "still there is configmap/held", "example.com/slow")
	w.bundle(0, "status")
	uninstall := w.start("bundle", "uninstall", w.instance(), "--system-namespace", w.namespace)
	w.eventually("it waits", func() bool {
		return strings.Contains(uninstall.stderr.String(),
			"waiting for configmap/held")
	})
	w.kubectl("patch", "configmap", "held", "--namespace", w.namespace, "--type", "merge", "--patch",
		`{"metadata":{"finalizers":null}}`)
	uninstall.wait().mustBe(w, 0)
	w.uninstalled()
}

// Objects beyond what an annotation holds, and a release beyond what a Secret holds, are
// installed and upgraded; helm cannot read such a release, which is said.
func TestBundleThatIsLarge(t *testing.T) {
	w := newBundles(t)
	var manifests []string
	for i := range 3 {
		noise := make([]byte, 350_000)
		_, _ = rand.NewChaCha8([32]byte{byte(i)}).Read(noise) // which does not compress
		manifests = append(manifests, configMap(fmt.Sprintf("large-%d", i), hex.EncodeToString(noise)))
	}
	w.contains(w.bundle(0, "install", w.plain(manifests...)).stderr,
		"helm lists it, and can neither read nor uninstall it")
	w.contains(w.helm("list"), w.instance())
	i := decode[v1.BundleInstallation](w,
		w.bundle(0, "install", w.plain(append(manifests, configMap("a", "one"))...), "-o", "json"))
	if i.Action != v1.BundleUpgraded || i.Objects.Created != 1 || i.Objects.Unchanged != 3 {
		t.Errorf("%+v", i)
	}
	w.uninstalled()
}

// Anyone who deletes the instance with kubectl deletes all that it has installed, and its release.
func TestBundleDeletedWithKubectl(t *testing.T) {
	w := newBundles(t)
	w.bundle(0, "install", w.plain(configMap("a", "one")))
	w.bundle(0, "install", w.plain(configMap("a", "two")))
	w.kubectl("delete", "bundleinstance", w.instance())
	w.eventually("all of it is gone", func() bool {
		releases, err := w.CoreV1().Secrets(w.namespace).List(t.Context(),
			metav1.ListOptions{LabelSelector: "owner=helm"})
		return err == nil && len(releases.Items) == 0 && len(w.texts()) == 0
	})
	w.uninstalled()
}

// A namespace that does not exist is named before anything is written, and created with
// --create-namespace. What a refused first installation leaves is named as well.
func TestBundleIntoANewNamespace(t *testing.T) {
	w := newBundles(t)
	name := w.namespace + "-new"
	t.Cleanup(func() { _ = w.CoreV1().Namespaces().Delete(context.Background(), name, metav1.DeleteOptions{}) })
	args := []string{w.plain(configMap("a", "one")), "--namespace", name}
	w.contains(w.bundle(7, "install", args...).stderr, "namespace "+name+" does not exist", "kubectl create namespace "+
		name, "--create-namespace")
	if in, err := w.objects().Instance(t.Context(), w.instance()); in != nil || err != nil {
		t.Errorf("%+v, %v", in, err)
	}
	broken := w.plain(`{apiVersion: v1, kind: Service, metadata: {name: broken}, spec: {type: Nonsense}}`)
	w.contains(w.bundle(3, "install", broken).stderr, "Nonsense", "`berth bundle uninstall "+w.instance()+" ",
		" --system-namespace "+w.namespace+"`")
	w.bundle(0, "uninstall")
	w.bundle(0, "install", append(args, "--create-namespace")...)
	if _, err := w.CoreV1().ConfigMaps(name).Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	w.uninstalled()
	if _, err := w.CoreV1().Namespaces().Get(t.Context(), name, metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

// ConfigMaps of the system namespace are a source, too; they have to be immutable.
func TestBundleOfConfigMaps(t *testing.T) {
	w := newBundles(t)
	mutable := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "mutable"},
		Data:       map[string]string{"all.yaml": configMap("a", "one")},
	}
	if _, err := w.CoreV1().ConfigMaps(w.namespace).Create(t.Context(), mutable, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.contains(w.bundle(2, "install", "configmap/mutable=manifests").stderr, "immutable")
	w.immutable("content", configMap("a", "one"))
	w.bundle(0, "install", "configmap/content=manifests")
	w.says(map[string]string{"a": "one"})
	w.uninstalled()
}

// immutable makes a ConfigMap that is a source.
func (w *world) immutable(name, manifest string) {
	w.Helper()
	immutable := true
	_, err := w.CoreV1().ConfigMaps(w.namespace).Create(w.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"all.yaml": manifest}, Immutable: &immutable,
	}, metav1.CreateOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

// A chart with values and a hook, and a release that helm reads.
func TestBundleOfAChart(t *testing.T) {
	w := newBundles(t)
	dir := w.chart("web", `
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
spec:
  backoffLimit: 0
  template: {spec: {restartPolicy: Never, containers: [{name: x, image: `+workspaceImage+`, command: ["true"]}]}}
`)
	w.write(dir, "values.yaml", "greeting: hello")
	w.bundle(0, "install", dir)
	w.says(map[string]string{w.instance(): "hello"})
	values := w.write(w.TempDir(), "values.yaml", "greeting: moin")
	w.bundle(0, "install", dir, "--values", values)
	w.says(map[string]string{w.instance(): "moin again"})
	w.contains(w.helm("get", "values", w.instance()), "greeting: moin")
	w.contains(w.bundle(0, "install", dir).stderr, "the values of the last installation are used again")
	w.says(map[string]string{w.instance(): "moin again"})
	w.bundle(0, "diff", dir, "--exit-code")
	w.bundle(3, "diff", dir, "--exit-code", "--reset-values")
	w.contains(w.bundle(0, "install", dir, "--reset-values").stderr, "values: greeting removed")
	w.says(map[string]string{w.instance(): "hello again"})
	w.contains(w.helm("list"), "web-1.2.3")
	w.uninstalled()
}

// The published bundle of an operator, whose image is one that exists here: installed,
// upgraded, upgraded to something broken, upgraded again, uninstalled.
func TestBundleOfAnOperator(t *testing.T) {
	w := newBundles(t)
	operator := func(changes ...string) string {
		dir := filepath.Join(w.TempDir(), "bundle")
		if err := os.CopyFS(dir, os.DirFS("../testdata/bundles/prometheus-operator-0.47.0")); err != nil {
			t.Fatal(err)
		}
		return standIn(w, dir, changes...)
	}
	state := func(want v1.BundleStateName, bundles int) {
		s := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json"))
		if s.State != want || len(s.Objects) < 10 || len(s.Bundles) != bundles {
			t.Errorf("%+v", s)
		}
	}
	w.bundle(0, "install", operator(), "--timeout", "3m")
	state(v1.BundleHealthy, 1)
	upgraded := decode[v1.BundleInstallation](w,
		w.bundle(0, "install", operator("replicas: 1", "replicas: 2"), "--timeout", "3m", "-o", "json"))
	if upgraded.Action != v1.BundleUpgraded || upgraded.Objects.Updated != 1 {
		t.Errorf("%+v", upgraded)
	}
	w.bundle(3, "install", operator("image: "+workspaceImage, "image: registry.example.com/none:v1"), "--timeout", "3m")
	state(v1.BundleUnhealthy, 2)
	w.bundle(0, "install", operator(), "--timeout", "3m")
	state(v1.BundleHealthy, 1)
	w.bundle(0, "uninstall", "--delete-crds", "--yes")
	w.uninstalled()
}

// standIn replaces the image of an operator, which cannot be pulled here, and then other
// texts by others.
func standIn(w *world, dir string, changes ...string) string {
	w.Helper()
	path := filepath.Join(dir, "manifests", "prometheusoperator.0.47.0.clusterserviceversion.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		w.Fatal(err)
	}
	image := "image: quay.io/prometheus-operator/prometheus-operator:v0.47.0"
	changed := string(text)
	for change := range slices.Chunk(append([]string{image, "image: " + workspaceImage +
		"\n                command: [sleep, infinity]"}, changes...), 2) {
		before := changed
		if changed = strings.ReplaceAll(before, change[0], change[1]); changed == before {
			w.Fatalf("%q is not there to be replaced", change[0])
		}
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
		return []string{
			"bundle", "install", w.instance(), w.plain(configMap("a", text)), "--system-namespace",
			w.namespace,
		}
	}
	two, three := args("two"), args("three")
	a, b := w.start(two...), w.start(three...)
	x, y := a.wait(), b.wait()
	if x.status != 0 && y.status != 0 || x.status+y.status != 0 && x.status+y.status != 6 {
		t.Errorf("%d and %d\n%s\n%s", x.status, y.status, x.stderr, y.stderr)
	}
	switch text := w.texts()["a"]; {
	case text == "two" && x.status == 0:
		w.agree(two[3], map[string]string{"a": "two"})
	case text == "three" && y.status == 0:
		w.agree(three[3], map[string]string{"a": "three"})
	default:
		t.Errorf("%d and %d, and the bundle says %q", x.status, y.status, text)
	}
	w.bundle(0, "install", w.plain(configMap("a", "four")))
	w.says(map[string]string{"a": "four"})
	w.uninstalled()
}

// Killed at any of its API calls, an upgrade is completed by the next one.
func TestBundleKilled(t *testing.T) {
	prepare := func(w *world) []string {
		w.bundle(0, "install", w.plain(configMap("a", "one"), configMap("gone", "x")))
		return []string{
			"bundle", "install", w.instance(), w.plain(configMap("a", "two"), configMap("b", "two")),
			"--system-namespace", w.namespace,
		}
	}
	var requests atomic.Int64
	w := newBundles(t)
	w.finish(w.through(prepare(w), func(out http.ResponseWriter, r *http.Request, next http.Handler) {
		requests.Add(1)
		next.ServeHTTP(out, r)
	})).mustBe(w, 0)
	step := 4
	if tortured() {
		step = 1
	}
	moments := map[string]func(*testing.T){}
	for n := 1; n <= int(requests.Load()); n += step {
		m := moment{request: n, done: n/step%2 == 1}
		moments[m.String()] = func(t *testing.T) {
			w := newBundlesBeside(t)
			args := prepare(w)
			if !w.killedAt(args, m) {
				t.Logf("it had ended before %s", m)
			}
			w.must(0, args...)
			w.says(map[string]string{"a": "two", "b": "two"})
			if state := decode[v1.BundleState](w,
				w.bundle(0, "status", "-o", "json")); state.State != v1.BundleHealthy ||
				len(state.Bundles) != 1 {
				t.Errorf("%+v", state)
			}
			w.uninstalled()
		}
	}
	beside(t, 3, moments)
}
