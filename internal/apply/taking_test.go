package apply

import (
	"maps"
	"testing"
)

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
