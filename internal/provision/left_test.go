package provision

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
)

// What is removed after a failure: what the run made. A claim that was there, or
// may have been, stays.
func TestWhatIsRemovedAfterAFailure(t *testing.T) {
	wanted := []*unstructured.Unstructured{
		kube.Named("Pod", "a"), kube.Named("Service", "a"), kube.Named("ConfigMap", "a"), kube.Named("PersistentVolumeClaim", "data"),
	}
	for _, test := range []struct {
		name  string
		told  map[string]bool
		first bool
		want  []string
	}{
		{
			"all of it made",
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
		var c creation
		for _, object := range wanted {
			action := apply.Unchanged
			if test.told[object.GetKind()] {
				action = apply.Created
			}
			if _, told := test.told[object.GetKind()]; told {
				c.add(apply.Changes{{Action: action, Object: object}})
			}
		}
		var got []string
		for _, object := range c.of(wanted, test.first) {
			got = append(got, object.GetKind())
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
	if new(creation).any() {
		t.Error("a run that has not written has made something")
	}
}
