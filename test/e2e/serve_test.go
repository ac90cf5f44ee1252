//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
)

// plainOf is an instance whose content is in ConfigMaps.
func (w *world) plainOf(class, configMap string) string {
	return fmt.Sprintf(`
apiVersion: core.rukpak.io/v1alpha1
kind: BundleInstance
metadata: {name: %s}
spec:
  provisionerClassName: berth-dev-plain
  config: {namespace: %s}
  template:
    spec:
      provisionerClassName: %s
      source: {type: configMaps, configMaps: [{configMap: {name: %s}, path: manifests}]}
`, w.instance(), w.namespace, class, configMap)
}

// contentOf is an immutable ConfigMap with the manifests of a bundle.
func contentOf(name string, manifests ...string) string {
	text := strings.ReplaceAll(strings.Join(manifests, "\n---\n"), "\n", "\n    ")
	return fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: %s}\nimmutable: true\ndata:\n"+
		"  all.yaml: |\n    %s\n", name, text)
}

// What is printed starts as it is, confined, and one pod leads. An instance that kubectl
// applies is installed and upgraded, and what it installed goes with it.
func testServe(t *testing.T) {
	w := newServing(t, "cluster-admin")
	for _, pod := range w.servers() {
		w.confined(&pod)
	}
	led := w.leads(v1alpha1.ClassPlain)
	w.apply(contentOf("one", configMap("a", "one {{ literal }}"), configMap("gone", "x")),
		w.plainOf(v1alpha1.ClassPlain, "one"))
	first := w.installedBundle()
	w.says(map[string]string{"a": "one {{ literal }}", "gone": "x"})
	if want := fmt.Sprintf("https://berth-bundles.%s.svc/bundles/%s.tgz", w.namespace,
		first.Name); first.Status.ContentURL != want || first.Status.Phase != v1alpha1.PhaseUnpacked {
		t.Errorf("the bundle is %+v, want it at %s", first.Status, want)
	}
	w.apply(contentOf("two", configMap("a", "two"), w.web()), w.plainOf(v1alpha1.ClassPlain, "two"))
	if second := w.installedBundle(); second.Name == first.Name {
		t.Errorf("the bundle is still %s", second.Name)
	}
	w.says(map[string]string{"a": "two"})
	if now := w.leads(v1alpha1.ClassPlain); now != led {
		t.Errorf("%s led, and %s does now", led, now)
	}
	w.kubectl("delete", "bundleinstances.core.rukpak.io", w.instance(), "--wait")
	w.eventually("what it installed is gone", func() bool { return len(w.texts()) == 0 && len(w.bundlesOf()) == 0 })
}

// confined fails the test unless a pod of the server has no rights on its node.
func (w *world) confined(pod *corev1.Pod) {
	w.Helper()
	p, c := pod.Spec.SecurityContext, pod.Spec.Containers[0].SecurityContext
	if p.RunAsNonRoot == nil || !*p.RunAsNonRoot || p.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault ||
		!*c.ReadOnlyRootFilesystem || *c.AllowPrivilegeEscalation || !slices.Contains(c.Capabilities.Drop, "ALL") ||
		len(c.Capabilities.Add) > 0 {
		w.Errorf("pod %s may %+v, %+v", pod.Name, p, c)
	}
	for _, s := range pod.Status.ContainerStatuses {
		if s.RestartCount > 0 {
			w.Errorf("pod %s was restarted %d times: %+v", pod.Name, s.RestartCount, s.LastTerminationState)
		}
	}
}

// web is a Deployment that takes a while to be ready, in a namespace where pods are
// confined.
func (w *world) web() string {
	return `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      ` + restricted + `
      containers:
        - name: web
          image: ` + workspaceImage + `
          command: [sleep, infinity]
          ` + restrictedContainer + `
`
}

// What a pod takes in a namespace of the level restricted.
const (
	restricted = `securityContext: {runAsNonRoot: true, runAsUser: 1000, seccompProfile: {type: ` +
		`RuntimeDefault}}`
	restrictedContainer = `securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}`
)

// While a pod leads, a terminal writes what it wants and follows the server; whatever
// several of them want at once, only the server ever works on the instance.
func testServeAndTerminal(t *testing.T) {
	w := newServing(t, "cluster-admin")
	holders := w.holders()
	first := w.bundle(0, "install", w.plain(configMap("a", "one"), w.web()), "-o", "jsonl")
	w.contains(first.stdout, "reconciles the bundles of this cluster", `"requested"`)
	w.says(map[string]string{"a": "one"})
	w.installedBundle()
	w.contains(w.bundle(0, "install", w.plain(configMap("a", "two"))).stderr, "reconciles the bundles of this cluster")
	w.says(map[string]string{"a": "two"})
	w.contains(w.bundle(3, "install",
		w.plain(configMap("a", "three"),
			`{apiVersion: v1, kind: Service, metadata: {name: broken}, spec: {type: Nonsense}}`)).stderr, "Nonsense")
	w.says(map[string]string{"a": "two"})
	w.contains(w.bundle(2, "install", w.plain(configMap("a", "three")), "--force-conflicts").stderr,
		"--force-conflicts cannot be used while")

	// What has failed is done when its cause is gone, and it is asked for once more.
	boat := fmt.Sprintf("{apiVersion: %s.example.com/v1, kind: Boat, metadata: {name: a}}", w.namespace)
	afloat := w.plain(configMap("a", "afloat"), boat)
	w.contains(w.bundle(3, "install", afloat).stderr, "required resource not found")
	w.defineBoat(w.namespace + ".example.com")
	w.bundle(0, "install", afloat)
	w.says(map[string]string{"a": "afloat"})

	args := func(text string) []string {
		return []string{
			"bundle", "install", w.instance(), w.plain(configMap("a", text)), "--system-namespace",
			w.namespace,
		}
	}
	x, y := w.start(args("four")...), w.start(args("five")...)
	for _, r := range []result{x.wait(), y.wait()} {
		if r.status != 0 && r.status != 6 {
			t.Errorf("it ends with %d:\n%s", r.status, r.stderr)
		}
	}
	w.bundle(0, "install", w.plain(configMap("a", "six")))
	w.installedBundle()
	w.says(map[string]string{"a": "six"})
	pods := w.servers()
	for holder := range holders() {
		if !slices.ContainsFunc(pods, func(p corev1.Pod) bool { return strings.Contains(holder, p.Name) }) {
			t.Errorf("%s has worked on the instance", holder)
		}
	}
	w.uninstalled()
}

// holders follows who holds the lock of the world's instance; what it gives ends that,
// and gives who did.
func (w *world) holders() func() map[string]bool {
	w.Helper()
	watch, err := w.CoordinationV1().Leases(w.namespace).Watch(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	all, done := map[string]bool{}, make(chan struct{})
	go func() {
		defer close(done)
		for e := range watch.ResultChan() {
			lease, is := e.Object.(*coordinationv1.Lease)
			if is && !strings.HasPrefix(lease.Name, "berth-leader-") && lease.Spec.HolderIdentity != nil &&
				*lease.Spec.HolderIdentity != "" {
				all[*lease.Spec.HolderIdentity] = true
			}
		}
	}()
	return func() map[string]bool {
		watch.Stop()
		<-done
		if len(all) == 0 {
			w.Error("nobody has held the lock")
		}
		return all
	}
}

// An instance that nobody works on is warned about: of another class, and of ours while
// no server leads.
func testBundleOfNobody(t *testing.T) {
	w := newBundlesAlone(t)
	w.apply(w.must(0, "bundle", "definitions").stdout)
	for class, want := range map[string]string{
		foreignClass: "nobody has worked on it yet: class " + foreignClass + " is not one of berth's",
		v1alpha1.ClassPlain: "nobody has worked on its newest version yet: run `berth bundle reconcile`, or `berth " +
			"serve bundles` in the cluster",
	} {
		w.apply(strings.Replace(w.plainOf(class, "none"), "  provisionerClassName: berth-dev-plain",
			"  provisionerClassName: "+class, 1))
		t.Cleanup(func() { w.output("delete", "bundleinstances.core.rukpak.io", w.instance()) })
		w.eventually("the status warns of "+class, func() bool {
			return strings.Contains(w.bundle(0, "status").stdout, want)
		})
		w.contains(strings.Join(decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json")).Warnings, "\n"), want)
		w.kubectl("delete", "bundleinstances.core.rukpak.io", w.instance())
	}
}
