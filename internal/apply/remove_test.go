package apply

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

func TestRemoveTellsWhatWasThere(t *testing.T) {
	c := newCluster()
	if _, err := c.applier().Apply(t.Context(), Objects(workspace(t)[:2])); err != nil {
		t.Fatal(err)
	}
	changes, err := c.applier().Remove(t.Context(), workspace(t))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, actions(changes), "delete ConfigMap", "delete PersistentVolumeClaim")
}

// What was removed before something failed is known; what follows is not touched.
func TestRemoveWithAnError(t *testing.T) {
	c := newCluster()
	if _, err := c.applier().Apply(t.Context(), Objects(workspace(t))); err != nil {
		t.Fatal(err)
	}
	c.writes = nil
	c.answers["delete pods"] = apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "a", errors.New("denied"))
	changes, err := c.applier().Remove(t.Context(), workspace(t))
	if err == nil || len(changes) > 0 {
		t.Error(changes, err)
	}
	expect(t, c.writes, "delete pods")
}

// The owner of an object is looked up, unless its name shows it.
func TestRemovesOnlyItsOwn(t *testing.T) {
	for name, test := range map[string]struct {
		byName, marked bool
		uid            types.UID
		want           []string
	}{
		"its own":                     {false, true, "", []string{"delete ConfigMap"}},
		"of another owner":            {false, false, "", nil},
		"by name":                     {true, false, "", []string{"delete ConfigMap"}},
		"the very one":                {false, true, "u1", []string{"delete ConfigMap"}},
		"another one of the name now": {false, true, "u0", nil},
	} {
		t.Run(name, func(t *testing.T) {
			there := workspace(t)[0]
			there.SetNamespace("ns")
			there.SetUID("u1")
			a := newCluster().applier()
			if test.marked {
				there = a.Owner.mark(there)
			}
			a.Client, a.ByName = newCluster(there), test.byName
			object := workspace(t)[0]
			object.SetUID(test.uid)
			changes, err := a.Remove(t.Context(), []*unstructured.Unstructured{object})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, actions(changes), test.want...)
		})
	}
}

func TestLeftovers(t *testing.T) {
	objects := workspace(t)
	kept := parse(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: {helm.sh/resource-policy: keep}}}`)
	newer := []*unstructured.Unstructured{objects[2].DeepCopy(), objects[0].DeepCopy()}
	newer[0].SetNamespace("ns")
	newer[1].SetNamespace("other")
	remove, keep := Leftovers(append(objects, kept...), newer, "ns")
	if len(remove) != 1 || remove[0].GetKind() != "ConfigMap" {
		t.Errorf("removes %v", remove)
	}
	if len(keep) != 2 || keep[0].GetKind() != "PersistentVolumeClaim" || keep[1].GetKind() != "Secret" {
		t.Errorf("keeps %v", keep)
	}
}
