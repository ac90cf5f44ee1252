package apply

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

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

// A Service whose address cannot be changed is deleted and created; without the right to delete it, that is said. One
// that is as it is to be is left, and so is each where nothing is made again.
func TestServicesMadeAgain(t *testing.T) {
	const create, remove, patch = "create services", "delete services", "patch services"
	service := func(address string) []*unstructured.Unstructured {
		return parse(t, `{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {clusterIP: "`+address+`"}}`)
	}
	for name, c := range map[string]struct {
		recreates bool
		dry       DryRun
		answer    error
		code      fault.Code
		writes    []string
	}{
		"it is made again": {true, DryRunNone, nil, "", []string{create, remove, create}},
		"a dry run":        {true, DryRunClient, nil, "", nil},
		"it may not be deleted": {
			true, DryRunNone, apierrors.NewForbidden(schema.GroupResource{Resource: "services"}, "a", errors.New("no")),
			fault.Failed,
			[]string{create, remove},
		},
		"nothing is made again": {false, DryRunNone, nil, "", []string{create, patch}},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := newCluster()
			if _, err := cluster.applier().Apply(t.Context(), Objects(service("10.96.0.7"))); err != nil {
				t.Fatal(err)
			}
			cluster.writes = nil
			if c.answer != nil {
				cluster.answers[remove] = c.answer
			}
			applier := cluster.applier()
			applier.DryRun = c.dry
			applier.Recreates = func(_ context.Context, have, _ *unstructured.Unstructured) bool {
				return c.recreates && have.GetKind() == "Service"
			}
			_, err := applier.Apply(t.Context(), Objects(service("None")))
			if fault.CodeOf(err) != c.code && (err != nil || c.code != "") {
				t.Errorf("%v, want %q", err, c.code)
			}
			expect(t, cluster.writes, c.writes...)
		})
	}
}

// A claim that is to be made again is deleted and created, and nothing else is. A dry run says
// so, and without the right to delete it, it is used as it is.
func TestClaimsMadeAgain(t *testing.T) {
	const create, remove = "create persistentvolumeclaims", "delete persistentvolumeclaims"
	claim := schema.GroupResource{Resource: "persistentvolumeclaims"}
	for name, c := range map[string]struct {
		again  bool
		dry    DryRun
		answer error
		action string
		writes []string
	}{
		"it is as wanted":  {false, DryRunNone, nil, "unchanged PersistentVolumeClaim", []string{create}},
		"it is made again": {true, DryRunNone, nil, "create PersistentVolumeClaim", []string{create, remove, create}},
		"a dry run":        {true, DryRunClient, nil, "create PersistentVolumeClaim", nil},
		"it may not be deleted": {
			true, DryRunNone, apierrors.NewForbidden(claim, "a", errors.New("no")),
			"unchanged PersistentVolumeClaim",
			[]string{create, remove},
		},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, all := newCluster(), Objects(workspace(t)[1:2])
			if _, err := cluster.applier().Apply(t.Context(), all); err != nil {
				t.Fatal(err)
			}
			cluster.writes = nil
			if c.answer != nil {
				cluster.answers[remove] = c.answer
			}
			applier := cluster.applier()
			applier.DryRun = c.dry
			applier.Recreates = func(context.Context, *unstructured.Unstructured, *unstructured.Unstructured) bool {
				return c.again
			}
			changes, err := applier.Apply(t.Context(), all)
			if err != nil {
				t.Fatal(err)
			}
			expect(t, actions(changes), c.action)
			if (changes[0].InPlaceOf != nil) != (changes[0].Action == Created) {
				t.Errorf("in place of %v", changes[0].InPlaceOf)
			}
			expect(t, cluster.writes, c.writes...)
		})
	}
}
