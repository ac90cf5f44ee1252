package standalone

import (
	"slices"
	"strings"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
)

// there is an object of the cluster, of the release or of somebody else.
func there(kind, name, namespace string, mine bool) *unstructured.Unstructured {
	object := kube.Named(kind, name)
	object.SetNamespace(namespace)
	object.SetUID(types.UID(kind + "/" + namespace + "/" + name))
	if mine {
		owner := release.Owner(id, "dev")
		object.SetLabels(owner.Labels)
		object.SetAnnotations(owner.Annotations)
	}
	return object
}

// A record that somebody forged names what is not the workspace's: nothing of that is
// deleted, and it is named.
func TestRemovalOfAForgedRecord(t *testing.T) {
	const forged = `
apiVersion: v1
kind: ConfigMap
metadata: {name: ` + id + `-config}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: of-bob}
---
apiVersion: v1
kind: Secret
metadata: {name: elsewhere, namespace: kube-system}
---
apiVersion: v1
kind: Namespace
metadata: {name: dev}
---
apiVersion: example.com/v1
kind: Boat
metadata: {name: b}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: ../../secrets/of-bob}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: victim}
---
metadata: {name: of-no-kind}
`
	target, client, _ := on(t, workspacePod(false))
	untyped := dynamicfake.NewSimpleDynamicClient(runtime.NewScheme(),
		there("ConfigMap", id+"-config", "dev", true), there("PersistentVolumeClaim", "of-bob", "dev", false),
		there("Secret", "elsewhere", "kube-system", true), there("Secret", "victim-tls", "dev", false),
		there("Pod", id, "dev", false))
	target.Client.Dynamic = untyped
	said := &warnings{}
	stream := event.NewStream("alice", time.Now, said)
	target.Steps = deploy.NewSteps(stream, time.Now)
	record := &helm.Release{Name: id, Version: 1, Manifest: forged, Info: &helm.Info{Status: helm.StatusDeployed}}
	if err := target.Records().Create(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	found, err := target.LookupStatus(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	removal, err := target.Remove(t.Context(), deploy.Turn{Found: found}, deploy.Removing{})
	if err != nil {
		t.Fatal(err)
	}
	stream.Finish(v1.Result{})
	var deleted []string
	for _, action := range untyped.Actions() {
		if d, is := action.(clienttesting.DeleteActionImpl); is {
			deleted = append(deleted, d.GetResource().Resource+"/"+d.GetName())
			if d.DeleteOptions.Preconditions == nil || d.DeleteOptions.Preconditions.UID == nil {
				t.Errorf("%s is deleted whatever it is", d.GetName())
			}
		}
		if action.GetNamespace() != "dev" {
			t.Errorf("%s %s in namespace %q", action.GetVerb(), action.GetResource().Resource, action.GetNamespace())
		}
	}
	slices.Sort(deleted)
	if want := []string{"configmaps/" + id + "-config", "pods/" + id}; !slices.Equal(deleted, want) ||
		removal.Objects != 2 {
		t.Errorf("deleted are %q, want %q", deleted, want)
	}
	for _, name := range []string{
		"persistentvolumeclaim/of-bob", "secret/elsewhere in namespace kube-system",
		"namespace/dev", "boat/b",
	} {
		if !strings.Contains(said.text, name) {
			t.Errorf("%s is not named in %q", name, said.text)
		}
	}
	if left, err := client.CoreV1().Secrets("dev").List(t.Context(), metav1.ListOptions{}); err != nil ||
		len(left.Items) > 0 {
		t.Errorf("the record is left: %v, %v", left.Items, err)
	}
}

// warnings are those of a stream.
type warnings struct{ text string }

// Handle notes a warning.
func (w *warnings) Handle(e v1.Event) {
	if e.Warning != nil {
		w.text += e.Warning.Message + "\n"
	}
}

// A record that cannot be read, or that names no pod, keeps nobody from deleting.
func TestNamed(t *testing.T) {
	target, _, _ := on(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: id}}
	for name, test := range map[string]struct {
		found inventory.Found
		pod   bool
		more  string
	}{
		"nothing":     {inventory.Found{}, false, ""},
		"a pod alone": {inventory.Found{Pod: pod}, true, "Service"},
		"a record that names no pod": {inventory.Found{
			Pod:    pod,
			Record: &helm.Release{Manifest: "kind: Secret\napiVersion: v1\nmetadata: {name: s}"},
		}, true, "Secret"},
		"an unreadable record": {inventory.Found{Record: &helm.Release{Manifest: "{"}}, true, "Service"},
		"a record of a workspace": {
			inventory.Found{
				Record: &helm.Release{Manifest: "kind: ConfigMap\napiVersion: v1\nmetadata: {name: c}"},
			},
			false, "ConfigMap",
		},
		"an unreadable one and a pod": {
			inventory.Found{Pod: pod, Record: &helm.Release{Manifest: "{"}},
			true,
			"ConfigMap",
		},
	} {
		named := target.named(test.found)
		has := func(kind string) bool { return kube.OfKind(named, kind) != nil }
		if has("Pod") != test.pod || test.more != "" && !has(test.more) {
			t.Errorf("%s: %v", name, named)
		}
	}
}

// What belongs to others is known of all that was looked for.
func TestBelongingsWithOthers(t *testing.T) {
	a, b := kube.Named("Secret", "a"), kube.Named("Secret", "b")
	one, more := belongings{foreign: []*unstructured.Unstructured{a}},
		belongings{foreign: []*unstructured.Unstructured{b}, objects: []*unstructured.Unstructured{b}}
	if got := one.with(more); len(got.foreign) != 2 || len(got.objects) != 1 || len(got.secrets) != 0 {
		t.Errorf("%+v", got)
	}
}

// A cluster that does not know a kind has no objects of it.
func TestObjectsOfAnUnknownKind(t *testing.T) {
	target, _, _ := on(t)
	certificates := schema.GroupVersionResource{Group: "cert-manager.io", Version: "v1", Resource: "certificates"}
	client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
		map[schema.GroupVersionResource]string{certificates: "CertificateList"})
	target.Client.Dynamic = client
	for answer, code := range map[error]fault.Code{
		apierrors.NewNotFound(certificates.GroupResource(), ""): "",
		apierrors.NewServiceUnavailable("busy"):                 fault.Unavailable,
	} {
		client.PrependReactor("list", "*",
			func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, answer })
		objects, err := target.ofKind(t.Context(),
			schema.GroupVersionKind{Group: "cert-manager.io", Version: "v1", Kind: "Certificate"})
		if (err != nil) != (code != "") || len(objects) != 0 {
			t.Errorf("%v: %v, %v", answer, objects, err)
		}
	}
}
