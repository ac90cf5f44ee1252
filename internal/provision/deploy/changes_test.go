package deploy

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
)

func change(object *unstructured.Unstructured, created bool) apply.Change {
	if created {
		return apply.Change{Action: apply.Created, Object: object}
	}
	return apply.Change{Action: apply.Unchanged, Object: object}
}

// What is removed after a failure: what the run created. A claim that was there,
// or may have been, stays.
func TestRemovable(t *testing.T) {
	wanted := []*unstructured.Unstructured{
		kube.Named("Pod", "a"), kube.Named("Service", "a"), kube.Named("ConfigMap", "a"),
		kube.Named("PersistentVolumeClaim", "data"),
	}
	for _, test := range []struct {
		name    string
		created map[string]bool
		first   bool
		want    []string
	}{
		{
			"all of it created",
			map[string]bool{"Pod": true, "Service": true, "ConfigMap": true, "PersistentVolumeClaim": true},
			true,
			[]string{"Pod", "Service", "ConfigMap", "PersistentVolumeClaim"},
		},
		{
			"a claim from before",
			map[string]bool{"Pod": true, "Service": true, "ConfigMap": true, "PersistentVolumeClaim": false},
			true,
			[]string{"Pod", "Service", "ConfigMap"},
		},
		{
			"cut off, the answers unheard",
			map[string]bool{"ConfigMap": true},
			true,
			[]string{"Pod", "Service", "ConfigMap"},
		},
		{
			"a workspace from before, with a new pod",
			map[string]bool{"Pod": true, "Service": false, "ConfigMap": false, "PersistentVolumeClaim": false},
			false,
			[]string{"Pod"},
		},
		{
			"a workspace from before that got a storage",
			map[string]bool{"Pod": true, "PersistentVolumeClaim": true},
			false,
			[]string{"Pod", "PersistentVolumeClaim"},
		},
	} {
		var c Changes
		for _, object := range wanted {
			if created, known := test.created[object.GetKind()]; known {
				c.Objects = append(c.Objects, change(object, created))
			}
		}
		var got []string
		mine, unsure := c.Removable(wanted, "ns", test.first)
		for _, object := range unsure {
			if _, known := test.created[object.GetKind()]; known || object.GetUID() != "" {
				t.Errorf("%s: it is not sure of %s", test.name, object.GetKind())
			}
		}
		for _, object := range append(mine, unsure...) {
			got = append(got, object.GetKind())
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}

// What counts as created: also a record or a patch of which the answer was lost.
func TestAnyChanges(t *testing.T) {
	pod := kube.Named("Pod", "a")
	for name, test := range map[string]struct {
		changes Changes
		want    bool
	}{
		"nothing written":       {Changes{}, false},
		"an object from before": {Changes{Objects: apply.Changes{change(pod, false)}}, false},
		"an object":             {Changes{Objects: apply.Changes{change(pod, true)}}, true},
		"the record":            {Changes{Begun: true}, true},
	} {
		if got := test.changes.Any(); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// A claim stays unless this run has created it.
func TestKeeps(t *testing.T) {
	claim := func(name string) *unstructured.Unstructured { return kube.Named("PersistentVolumeClaim", name) }
	c := Changes{Objects: apply.Changes{change(claim("made"), true), change(claim("there"), false)}}
	for name, want := range map[string]bool{"made": false, "there": true, "unheard": true} {
		if got := c.Keeps(claim(name)); got != want {
			t.Errorf("%s is kept: %t", name, got)
		}
	}
	if c.Keeps(kube.Named("ConfigMap", "there")) {
		t.Error("a ConfigMap is kept")
	}
}
