package instance

import (
	"fmt"
	"testing"
	"time"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/kube"
)

// What attempts since the installed revision may have left is known, whether they failed
// or were cut off; what was before the installed one is gone.
func TestHistory(t *testing.T) {
	r := Reconciler{Own: &kube.Client{Interface: fake.NewClientset()}, System: "ns", Now: time.Now}
	var latest *helm.Release
	record := func(name string, end func(*helm.Release) error) {
		t.Helper()
		object := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap",
			"metadata": map[string]any{"name": name},
		}}
		pkg := &format.Package{Format: format.Plain, Objects: []*unstructured.Unstructured{object}}
		next, err := nextRelease("shop", "ns", origin{Values: name}, pkg, pkg.Objects, latest, time.Now())
		if err == nil {
			err = r.records().Create(t.Context(), next)
		}
		if err == nil {
			err = end(next)
		}
		if err != nil {
			t.Fatal(err)
		}
		latest = next
	}
	failed := func(next *helm.Release) error {
		return r.records().Failed(t.Context(), next, "no", keptRevisions, func(*helm.Release) bool { return false })
	}
	succeeded := func(next *helm.Release) error {
		return r.records().Succeeded(t.Context(), next, keptRevisions, time.Now())
	}
	expect := func(revision int, installed, attempted string) {
		t.Helper()
		h, err := r.history(t.Context(), "shop", latest)
		if err != nil {
			t.Fatal(err)
		}
		if (h.deployed == nil) != (revision == 0) || h.deployed != nil && h.deployed.Version != revision {
			t.Errorf("%+v is deployed, want revision %d", h.deployed, revision)
		}
		if got := namesOf(h.installed); got != installed {
			t.Errorf("%s is installed, want %s", got, installed)
		}
		if got := namesOf(h.attempted); got != attempted {
			t.Errorf("%s was attempted, want %s", got, attempted)
		}
	}
	expect(0, "[]", "[]")
	record("a", failed)
	expect(0, "[]", "[a]")
	record("b", succeeded)
	expect(2, "[b]", "[]")
	record("c", failed)
	record("d", func(*helm.Release) error { return nil }) // cut off
	expect(2, "[b]", "[c d]")
	record("e", succeeded)
	expect(5, "[e]", "[]")
}

func namesOf(objects []*unstructured.Unstructured) string {
	names := make([]string, len(objects))
	for i, object := range objects {
		names[i] = object.GetName()
	}
	return fmt.Sprint(names)
}
