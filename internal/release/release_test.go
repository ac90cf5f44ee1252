package release

import (
	"slices"
	"sync"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic/fake"
	clientset "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/fault"
)

const manifest = `---
# Source: x
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
---

---
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {"text": "--- is no separator here"}}
`

func objects(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	all, err := Objects(manifest)
	if err != nil || len(all) != 3 {
		t.Fatalf("%d objects, %v", len(all), err)
	}
	return all
}

func applier(existing ...runtime.Object) (Applier, *fake.FakeDynamicClient) {
	client := fake.NewSimpleDynamicClient(runtime.NewScheme(), existing...)
	return Applier{Dynamic: client, Name: "a", Namespace: "ns"}, client
}

// The pod is created after everything else, and all of it carries Helm's marks.
func TestWaves(t *testing.T) {
	a, client := applier()
	var mu sync.Mutex
	var order []string
	client.PrependReactor("create", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		mu.Lock()
		defer mu.Unlock()
		order = append(order, action.GetResource().Resource)
		return false, nil, nil
	})
	made, err := a.Apply(t.Context(), objects(t))
	if err != nil || len(made) != 3 {
		t.Fatal(made, err)
	}
	if len(order) != 3 || order[2] != "pods" {
		t.Errorf("created in the order %s", order)
	}
	for _, o := range made {
		if o.GetAnnotations()[annotationReleaseName] != "a" || o.GetLabels()[labelManagedBy] != "Helm" || o.GetNamespace() != "ns" {
			t.Errorf("%s %s carries %v %v", o.GetKind(), o.GetName(), o.GetLabels(), o.GetAnnotations())
		}
	}
}

// An object of the same name that belongs to somebody else is left alone.
func TestForeignObject(t *testing.T) {
	foreign := objects(t)[0].DeepCopy()
	foreign.SetNamespace("ns")
	a, _ := applier(foreign)
	_, err := a.Apply(t.Context(), objects(t))
	if fault.CodeOf(err) != fault.Conflict {
		t.Errorf("%v, want CONFLICT", err)
	}
}

func TestRemoveCountsWhatWasThere(t *testing.T) {
	a, _ := applier()
	if _, err := a.Apply(t.Context(), objects(t)[:2]); err != nil {
		t.Fatal(err)
	}
	if n, err := a.Remove(t.Context(), objects(t)); n != 2 || err != nil {
		t.Errorf("removed %d, %v; want 2", n, err)
	}
}

func TestLeftoversNeverHaveClaims(t *testing.T) {
	remove, keep := Leftovers(objects(t), objects(t)[2:])
	if len(remove) != 1 || remove[0].GetKind() != "ConfigMap" {
		t.Errorf("removes %v", remove)
	}
	if len(keep) != 1 || keep[0].GetKind() != "PersistentVolumeClaim" {
		t.Errorf("keeps %v", keep)
	}
}

// A record is found again as it was written; the newest revision counts.
func TestRecords(t *testing.T) {
	records := Records{Secrets: clientset.NewClientset().CoreV1().Secrets("ns"), Namespace: "ns"}
	if found, err := records.Latest(t.Context(), "a"); found != nil || err != nil {
		t.Fatalf("%v, %v", found, err)
	}
	c, err := Chart()
	if err != nil {
		t.Fatal(err)
	}
	record := NewRecord("a", "ns", &Rendered{Chart: c, Manifest: manifest}, time.Now())
	if err := records.Create(t.Context(), record); err != nil {
		t.Fatal(err)
	}
	if err := records.Create(t.Context(), record); err != ErrExists { //nolint:errorlint // it is this very value
		t.Errorf("the second one gives %v", err)
	}
	second := *record
	second.Version = 2
	if err := records.Create(t.Context(), &second); err != nil {
		t.Fatal(err)
	}
	Deployed(&second, time.Now())
	if err := records.Update(t.Context(), &second); err != nil {
		t.Fatal(err)
	}
	found, err := records.Latest(t.Context(), "a")
	if err != nil || found.Version != 2 || found.Info.Status != helm.StatusDeployed || found.Manifest != manifest {
		t.Errorf("%+v, %v", found, err)
	}
}

func TestTheChartIsWhole(t *testing.T) {
	c, err := Chart()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Validate(); err != nil {
		t.Error(err)
	}
	var names []string
	for _, f := range c.Raw {
		names = append(names, f.Name)
	}
	for _, want := range []string{"templates/_helpers.tpl", "runtime/start.sh", "values.yaml"} {
		if !slices.Contains(names, want) {
			t.Errorf("%s is not embedded: %s", want, names)
		}
	}
}
