//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
)

// sentinels are objects that the cluster deletes with the instance, made by nobody's bundle.
// Once they are gone, it has looked at what belonged to the instance.
func (w *world) sentinels() (gone func() bool) {
	w.Helper()
	uid := w.output("get", "bundleinstances.core.rukpak.io", w.instance(), "-o", "jsonpath={.metadata.uid}")
	owner := metav1.OwnerReference{
		APIVersion: "core.rukpak.io/v1alpha1", Kind: "BundleInstance", Name: w.instance(),
		UID: types.UID(uid),
	}
	var names []string
	for i := range 5 {
		made, err := w.CoreV1().ConfigMaps(w.namespace).Create(w.Context(), &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{
				Name:            fmt.Sprintf("sentinel-%d", i),
				OwnerReferences: []metav1.OwnerReference{owner},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			w.Fatal(err)
		}
		names = append(names, made.Name)
	}
	return func() bool {
		for _, name := range names {
			if _, err := w.CoreV1().ConfigMaps(w.namespace).
				Get(w.Context(), name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return false
			}
		}
		return true
	}
}

// left makes sure that an object is there, and that nothing ties it to the instance.
func (w *world) left(kind, name string) {
	w.Helper()
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal([]byte(w.output("get", kind, name, "--namespace", w.namespace, "-o", "json")),
		&object); err != nil {
		w.Errorf("%s/%s is gone: %v", kind, name, err)
		return
	}
	if len(object.OwnerReferences) > 0 || object.Labels["core.rukpak.io/owner-name"] != "" ||
		object.DeletionTimestamp != nil {
		w.Errorf("%s/%s is still the instance's: %+v", kind, name, object.ObjectMeta)
	}
}

func claim(name string) string {
	return fmt.Sprintf(`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: %s}, spec: {accessModes: `+
		`[ReadWriteOnce], resources: {requests: {storage: 1Mi}}}}`, name)
}

// What an uninstallation says is kept is there when the cluster has looked at all that
// belonged to the instance: what is marked, also by somebody else since, and a claim that
// an upgrade has kept.
func TestBundleKeeps(t *testing.T) {
	w := newBundles(t)
	marked := `{apiVersion: v1, kind: Secret, metadata: {name: marked, annotations: {helm.sh/resource-policy: keep}}}`
	later := `{apiVersion: v1, kind: Secret, metadata: {name: later}}`
	w.bundle(0, "install", w.plain(configMap("a", "one"), marked, later, claim("data"), claim("old-data")), "--no-wait")
	w.kubectl("annotate", "secret", "later", "--namespace", w.namespace, "helm.sh/resource-policy=keep")
	w.bundle(0, "install", w.plain(configMap("a", "two"), claim("data")), "--no-wait")
	gone := w.sentinels()
	w.contains(w.bundle(2, "uninstall").stderr, "--yes is required", "pvc/data in namespace "+w.namespace,
		"--keep-storage")
	w.claimUID("data") // is there
	w.contains(w.bundle(0, "uninstall", "--yes").stderr, "this storage goes with its data: pvc/data",
		"secret/marked", "secret/later", "persistentvolumeclaim/old-data", "an earlier bundle has made it")
	w.eventually("the cluster has looked", gone)
	w.left("secret", "marked")
	w.left("secret", "later")
	w.left("persistentvolumeclaim", "old-data")
	if _, err := w.CoreV1().PersistentVolumeClaims(w.namespace).
		Get(t.Context(), "data", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the claim of the bundle is there: %v", err)
	}
	// It is the bundle's again.
	w.bundle(0, "install", w.plain(marked))
	w.contains(w.bundle(0, "uninstall").stderr, "secret/marked")
	w.left("secret", "marked")
	w.uninstalled()
}

// --keep-storage keeps the claims of a bundle, which its next installation uses again.
func TestBundleKeepsStorage(t *testing.T) {
	w := newBundles(t)
	dir := w.plain(configMap("a", "one"), claim("data"))
	w.bundle(0, "install", dir, "--no-wait")
	uid := w.claimUID("data")
	w.contains(w.bundle(0, "uninstall", "--keep-storage").stderr, "persistentvolumeclaim/data", "--keep-storage keeps")
	w.says(map[string]string{})
	w.bundle(0, "install", dir, "--timeout", "2m") // which waits for the claim it has kept
	if again := w.claimUID("data"); again != uid {
		t.Errorf("the claim was %s and is %s", uid, again)
	}
	w.bundle(0, "uninstall", "--yes")
	w.uninstalled()
}

func (w *world) claimUID(name string) types.UID {
	w.Helper()
	claim, err := w.CoreV1().PersistentVolumeClaims(w.namespace).Get(w.Context(), name, metav1.GetOptions{})
	if err != nil {
		w.Fatal(err)
	}
	return claim.UID
}

// What the hooks of a chart have made outlives upgrades, repairs and, as it is said, the
// bundle; the hooks of the next bundle of the name take it up.
func TestBundleKeepsWhatHooksHaveMade(t *testing.T) {
	w := newBundles(t)
	objects := configMap("a", "{{ .Release.Revision }}") +
		"\n---\n{apiVersion: v1, kind: Secret, metadata: {name: object}}\n"
	hooks := `---
apiVersion: v1
kind: Secret
metadata: {name: password, annotations: {helm.sh/hook: pre-install}}
stringData: {password: "{{ randAlphaNum 10 }}"}
---
{apiVersion: v1, kind: ServiceAccount, metadata: {name: hooked, annotations: {helm.sh/hook: post-install}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: last, annotations: {helm.sh/hook: post-delete}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: passing, annotations: {helm.sh/hook: pre-delete, helm.sh/hook-delete-policy: hook-succeeded}}
`
	uid := func() string {
		return w.output("get", "secret", "password", "-o", "jsonpath={.metadata.uid}{.data.password}")
	}
	w.bundle(0, "install", w.chart("web", objects+hooks))
	first := uid()
	w.bundle(0, "install", w.chart("web", objects+"# another\n"+hooks))
	w.kubectl("delete", "configmap", "a")
	w.bundle(0, "install", w.chart("web", objects+"# another\n"+hooks)) // which repairs
	w.bundle(0, "install", w.plain(configMap("a", "no chart"),
		`{apiVersion: v1, kind: Secret, metadata: {name: object}}`))
	if now := uid(); now != first {
		t.Errorf("the Secret of the hook was %s and is %s", first, now)
	}
	w.bundle(0, "install", w.chart("web", objects+hooks))
	stderr := w.bundle(0, "uninstall").stderr
	w.contains(stderr, "secret/password", "serviceaccount/hooked", "configmap/last", "a hook has made it")
	if strings.Contains(stderr, "configmap/passing kept") || strings.Contains(stderr, "secret/object kept") {
		t.Error(stderr)
	}
	w.left("secret", "password")
	w.left("serviceaccount", "hooked")
	w.left("configmap", "last")
	w.bundle(0, "install", w.chart("web", objects+hooks))
	if now := uid(); now == first {
		t.Error("the hook has not run again")
	}
	w.uninstalled()
}

// What removes the finalizers of custom resources is there until they are gone; with their
// definition, that is every one of the kind.
func TestBundleRemovesCustomResourcesFirst(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{"alone": nil, "with their definition": {"--delete-crds", "--yes"}} {
		t.Run(name, func(t *testing.T) {
			w := newBundles(t)
			group := w.namespace + ".example.com"
			boat := func(name string) string {
				return fmt.Sprintf(`{apiVersion: %s/v1, kind: Boat, metadata: {name: %s, finalizers: `+
					`[example.com/moored]}}`, group, name)
			}
			w.bundle(0, "install", w.plain(kindBoat(group), boat("one"), configMap("a", "for the controller"),
				`{apiVersion: v1, kind: ServiceAccount, metadata: {name: controller}}`))
			held := "one"
			if args != nil {
				held = "theirs"
				w.asAdmin("sh", "-c",
					"printf -- '---\\n%s' '"+boat(held)+"' | "+os.Getenv("BERTH_TEST_KUBECTL")+
						` create -f - "$@"`, "sh")
				w.kubectl("patch", "boat."+group, "one", "--type", "merge", "--patch",
					`{"metadata":{"finalizers":null}}`)
			}
			uninstall := w.start(append([]string{
				"bundle", "uninstall", w.instance(), "--system-namespace",
				w.namespace,
			}, args...)...)
			w.eventually("it waits", func() bool { return strings.Contains(uninstall.stderr.String(), "waiting for ") })
			w.eventually("the resource leaves", func() bool {
				return w.output("get", "boat."+group, held, "-o", "jsonpath={.metadata.deletionTimestamp}") != ""
			})
			w.says(map[string]string{"a": "for the controller"})
			if _, err := w.CoreV1().ServiceAccounts(w.namespace).
				Get(t.Context(), "controller", metav1.GetOptions{}); err != nil {
				t.Error(err)
			}
			w.kubectl("patch", "boat."+group, held, "--type", "merge", "--patch", `{"metadata":{"finalizers":null}}`)
			uninstall.wait().mustBe(w, 0)
			w.uninstalled()
		})
	}
}

// An uninstallation that was interrupted is said on the instance, and undone by who
// installs the bundle again.
func TestBundleThatIsInstalledAfterAll(t *testing.T) {
	w := newBundles(t)
	dir := w.plain(configMap("a", "one"),
		`{apiVersion: v1, kind: ConfigMap, metadata: {name: held, finalizers: [example.com/slow]}}`)
	w.bundle(0, "install", dir)
	w.bundle(5, "uninstall", "--timeout", "12s")
	w.contains(w.bundle(0, "status").stdout, "its uninstallation began at")
	w.kubectl("patch", "configmap", "held", "--type", "merge", "--patch", `{"metadata":{"finalizers":null}}`)
	w.bundle(0, "install", dir)
	if state := decode[v1.BundleState](w, w.bundle(0, "status", "-o", "json")); state.State != v1.BundleHealthy {
		t.Errorf("%+v", state)
	}
	w.says(map[string]string{"a": "one", "held": ""})
	w.bundle(0, "uninstall", "--no-wait")
	w.kubectl("patch", "configmap", "held", "--type", "merge", "--patch", `{"metadata":{"finalizers":null}}`)
	w.eventually("it is gone", func() bool { return len(w.texts()) == 0 })
	w.uninstalled()
}

// With another system namespace than the one in which a bundle is recorded, nothing is done.
func TestBundleOfAnotherSystemNamespace(t *testing.T) {
	w := newBundles(t)
	w.bundle(0, "install", w.plain(configMap("a", "one")))
	next := w.plain(configMap("a", "two"))
	other := w.namespace + "-other"
	for _, args := range [][]string{
		{"install", w.instance(), next},
		{"diff", w.instance(), next},
		{"status", w.instance()},
		{"uninstall", w.instance()},
	} {
		stderr := w.must(6, append(append([]string{"bundle"}, args...), "--system-namespace", other)...).stderr
		w.contains(stderr, "recorded in the system namespace "+w.namespace, "--system-namespace "+w.namespace)
	}
	w.says(map[string]string{"a": "one"})
	w.bundle(0, "install", next)
	w.says(map[string]string{"a": "two"})
	if _, err := w.CoreV1().Namespaces().Get(t.Context(), other, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("namespace %s was made: %v", other, err)
	}
	w.uninstalled()
}
