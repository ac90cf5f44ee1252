package apply

import (
	"errors"
	"maps"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/fault"
)

func TestRemoveTellsWhatWasThere(t *testing.T) {
	c := newCluster()
	if _, err := c.applier().Apply(t.Context(), Objects(workspace(t)[:2])); err != nil {
		t.Fatal(err)
	}
	changes, err := c.applier().removeFound(t, workspace(t))
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
	changes, err := c.applier().removeFound(t, workspace(t))
	if err == nil || len(changes) > 0 {
		t.Error(changes, err)
	}
	expect(t, c.writes, "delete pods")
}

// An object says itself whose it is: of what a list names, others are left and named.
func TestFindsOnlyItsOwn(t *testing.T) {
	a := newCluster().applier()
	own := a.Owner.mark(workspace(t)[0])
	foreign := workspace(t)[1]
	foreign.SetAnnotations(map[string]string{"release": "b"})
	for _, object := range []*unstructured.Unstructured{own, foreign} {
		object.SetNamespace("ns")
		object.SetUID("u1")
	}
	c := newCluster(own, foreign)
	mine, others, err := c.applier().Find(t.Context(), workspace(t), a.Owner.Owns)
	if err != nil || len(mine) != 1 || mine[0].GetKind() != "ConfigMap" || len(others) != 1 ||
		others[0].GetKind() != "PersistentVolumeClaim" {
		t.Errorf("its own %v, others %v, %v", mine, others, err)
	}
	if c.reads != 3 {
		t.Errorf("3 objects are read %d times", c.reads)
	}
}

// What was read is deleted, and nothing that has its name now.
func TestRemovesTheVeryObject(t *testing.T) {
	for name, test := range map[string]struct {
		uid  types.UID
		want []string
	}{
		"the very one": {"u1", []string{"delete ConfigMap"}},
		"another one":  {"u0", nil},
	} {
		t.Run(name, func(t *testing.T) {
			there := workspace(t)[0]
			there.SetNamespace("ns")
			there.SetUID("u1")
			c := newCluster(there)
			c.precise()
			object := there.DeepCopy()
			object.SetUID(test.uid)
			changes, err := c.applier().Remove(t.Context(), []*unstructured.Unstructured{object})
			if err != nil {
				t.Fatal(err)
			}
			expect(t, actions(changes), test.want...)
		})
	}
	if _, err := newCluster().applier().Remove(t.Context(), workspace(t)); fault.CodeOf(err) != fault.Internal {
		t.Errorf("what was never read is deleted: %v", err)
	}
}

func TestLeftovers(t *testing.T) {
	objects := workspace(t)
	kept := parse(t, `{apiVersion: v1, kind: Secret, metadata: {name: s, annotations: `+
		`{helm.sh/resource-policy: keep}}}`)
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

// Definitions go on demand alone, and what is marked stays.
func TestRemovable(t *testing.T) {
	objects := parse(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: gone}}
{apiVersion: v1, kind: Secret, metadata: {name: kept, annotations: {helm.sh/resource-policy: keep}}}
{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: crews.example.org}}`)
	for definitions, want := range map[bool]int{false: 1, true: 2} {
		remove, keep := Removable(objects, definitions)
		if len(remove) != want || len(remove)+len(keep) != 3 || keep[0].GetName() != "kept" {
			t.Errorf("%t: %d go, %d stay", definitions, len(remove), len(keep))
		}
	}
}

// Each definition is counted with one request.
func TestCountResources(t *testing.T) {
	b := newBundle(t)
	objects := many(t, 15)
	b.again(t, objects)
	b.requests = nil
	counts, err := b.CountResources(t.Context(), objects)
	if err != nil || !maps.Equal(counts, map[string]int64{"crews.example.org": 3}) || len(b.requests) != 1 {
		t.Errorf("%v, %v after %q", counts, err, b.requests)
	}
}
