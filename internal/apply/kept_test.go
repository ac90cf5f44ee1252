package apply

import (
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// What is expected to be there is read and updated, what is gone is created, and what
// belongs to another owner is left alone, as ever.
func TestKept(t *testing.T) {
	all := workspace(t)
	c := newCluster()
	if _, err := c.applier().Apply(t.Context(), Objects(all[:2])); err != nil {
		t.Fatal(err)
	}
	c.writes, c.reads = nil, 0
	again := c.applier()
	again.Kept = true
	changes, err := again.Apply(t.Context(), Objects(all))
	if err != nil {
		t.Fatal(err)
	}
	expect(t, c.writes, "patch configmaps", "create pods")
	if c.reads != 2 {
		t.Errorf("%d reads, want one of each object but the pod", c.reads)
	}
	expect(t, actions(changes), "unchanged ConfigMap", "unchanged PersistentVolumeClaim", "create Pod")

	c = newCluster()
	gone := c.applier()
	gone.Kept = true
	if changes, err = gone.Apply(t.Context(), Objects(all[:1])); err != nil {
		t.Fatal(err)
	}
	expect(t, actions(changes), "create ConfigMap")

	foreign := workspace(t)[0]
	foreign.SetNamespace("ns")
	foreign.SetAnnotations(map[string]string{"release": "b"})
	c = newCluster(foreign)
	other := c.applier()
	other.Kept = true
	if _, err = other.Apply(t.Context(), Objects(all[:1])); fault.CodeOf(err) != fault.Conflict || len(c.writes) > 0 {
		t.Errorf("%v, wrote %q", err, c.writes)
	}
}
