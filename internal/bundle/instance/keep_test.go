package instance

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/apply/hooks"
	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/kubetest"
)

// parsed are the objects of lines of YAML.
func parsed(t *testing.T, text string) (objects []*unstructured.Unstructured) {
	t.Helper()
	for line := range strings.Lines(text) {
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(line), &object.Object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// The cluster deletes with the instance what nobody is told is kept, and nothing else.
func TestOwned(t *testing.T) {
	in := with("", 2)
	in.UID = "1"
	for _, object := range owned(in, parsed(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: goes}}
{apiVersion: v1, kind: Secret, metadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}}
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: kept-data}}
{apiVersion: v1, kind: Namespace, metadata: {name: kept}}
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: kept.example.org}}`)) {
		refs := object.GetOwnerReferences()
		if goes := object.GetName() == "goes"; goes != (len(refs) == 1) || goes && refs[0].UID != in.UID {
			t.Errorf("%s belongs to %v", object.GetName(), refs)
		}
	}
}

// Old records say where to look; what is installed, and what was to be, whose claims go.
func TestPlacesOf(t *testing.T) {
	record := func(status helm.Status, name string) *helm.Release {
		hook := &helm.Hook{Manifest: "{apiVersion: v1, kind: Secret, metadata: {name: hook}}"}
		return &helm.Release{
			Info: &helm.Info{Status: status}, Hooks: []*helm.Hook{hook},
			Manifest: fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}}", name),
		}
	}
	h, err := placesOf([]*helm.Release{
		record(helm.StatusFailed, "newest"), record(helm.StatusFailed, "failed"),
		record(helm.StatusDeployed, "installed"),
		record(helm.StatusSuperseded, "old"),
	})
	if err != nil || names(h.named) != "newest hook failed hook installed hook old hook" ||
		names(h.current) != "newest installed" || names(h.installed) != "installed" {
		t.Errorf("%q, %q, %v", names(h.named), names(h.current), err)
	}
}

func names(objects []*unstructured.Unstructured) string {
	var all []string
	for _, object := range objects {
		all = append(all, object.GetName())
	}
	return strings.Join(all, " ")
}

func TestDivide(t *testing.T) {
	applier := Reconciler{Installs: &kube.Client{Interface: fake.NewClientset()}, System: "ns"}.Applier("web", "ns")
	var objects []*unstructured.Unstructured
	for _, object := range parsed(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: goes}}
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: ns}}
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: old-data, namespace: ns}}
{apiVersion: v1, kind: Secret, metadata: {name: marked, annotations: {helm.sh/resource-policy: keep}}}
{apiVersion: v1, kind: Secret, metadata: {name: hook, annotations: {berth.dev/hook: pre-install}}}
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: definition}}
{apiVersion: v1, kind: ConfigMap, metadata: {name: leaving, deletionTimestamp: "2026-01-02T03:04:05Z"}}`) {
		object.SetLabels(map[string]string{"app.kubernetes.io/managed-by": "Helm"})
		annotations := map[string]string{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "ns"}
		maps.Copy(annotations, object.GetAnnotations())
		object.SetAnnotations(annotations)
		objects = append(objects, object)
	}
	objects = append(objects, parsed(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: foreign}}`)...)
	h := places{current: objects[1:2]}
	for o, want := range map[*Removing]string{
		{}: "goes data", {Definitions: true}: "goes data definition", {KeepStorage: true}: "goes",
	} {
		remove, keep := partition(objects, h, applier, *o)
		if names(remove) != want {
			t.Errorf("removes %q, want %q", names(remove), want)
		}
		if reasons := fmt.Sprint(keep); len(remove)+len(keep) != 7 || !strings.Contains(reasons, "may hold data") ||
			!strings.Contains(reasons, "somebody else") || !strings.Contains(reasons, "marked to be kept") ||
			!strings.Contains(reasons, madeByHook) {
			t.Errorf("keeps %s", reasons)
		}
	}
}

// A kept object of a kind goes with the definition of the kind, which is said.
func TestDivideWithDefinitions(t *testing.T) {
	applier := Reconciler{Installs: &kube.Client{Interface: fake.NewClientset()}, System: "ns"}.Applier("web", "ns")
	marks := `labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: web, ` +
		`meta.helm.sh/release-namespace: ns, helm.sh/resource-policy: `
	objects := parsed(t, `{apiVersion: example.org/v1, kind: Boat, metadata: {name: kept, `+marks+`keep}}}
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, `+
		`metadata: {name: definition, `+marks+`none}}, `+
		`spec: {group: example.org, names: {kind: Boat, plural: boats}, versions: [{name: v1}]}}`)
	for definitions, want := range map[bool]int{false: 2, true: 0} {
		if remove, keep := partition(objects, places{}, applier,
			Removing{Definitions: definitions}); len(keep) != want ||
			len(remove) != map[bool]int{true: 1}[definitions] {
			t.Errorf("removes %q, keeps %v", names(remove), keep)
		}
	}
}

// A namespace would take what is kept with it.
func TestKeptIn(t *testing.T) {
	keep := []left{{object: parsed(t,
		`{apiVersion: v1, kind: Secret, metadata: {name: password, namespace: shop}}`)[0]}}
	if keptIn("other", keep) != "" || !strings.Contains(keptIn("shop", keep), "it holds secret/password") {
		t.Error(keptIn("other", keep), keptIn("shop", keep))
	}
}

// What a hook has made is neither wanted nor left over.
func TestLeftovers(t *testing.T) {
	server := kubetest.Start(t, nil)
	client := dynamic.NewForConfigOrDie(&rest.Config{Host: server.URL, QPS: -1})
	applier := Reconciler{
		Installs: &kube.Client{Interface: fake.NewClientset(), Dynamic: client},
		System:   "team",
	}.Applier("web", "team")
	applier.Live = live.New(client, v1alpha1.LabelOwnerName+"=web")
	defer applier.Live.Close()
	objects := parsed(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: wanted}}
{apiVersion: v1, kind: ConfigMap, metadata: {name: over}}`)
	hook := hooks.Hook{
		Object: parsed(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: hook}}`)[0],
		Events: []string{"pre-install"},
	}
	if err := hooks.Run(t.Context(), applier, []hooks.Hook{hook}, "pre-install", time.Minute,
		func(hooks.Hook) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := applier.Apply(t.Context(), apply.Objects(objects)); err != nil {
		t.Fatal(err)
	}
	for changed := applier.Live.Changed(); len(applier.Live.Objects()) < 3; changed = applier.Live.Changed() {
		<-changed
	}
	if got := names(leftovers(applier, objects[:1])); got != "over" {
		t.Errorf("%q", got)
	}
}
