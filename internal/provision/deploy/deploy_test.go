package deploy

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/watch/cause"
)

// The claims that are followed are those that the pod mounts, including those of
// others, and those that are created.
func TestClaims(t *testing.T) {
	pod := kube.Named("Pod", "a")
	pod.Object["spec"] = map[string]any{"volumes": []any{
		map[string]any{"name": "shared", "persistentVolumeClaim": map[string]any{"claimName": "pvc-shared"}},
		map[string]any{"name": "home", "persistentVolumeClaim": map[string]any{"claimName": "pvc-home"}},
		map[string]any{"name": "scratch", "emptyDir": map[string]any{}},
	}}
	d := Deployment{Objects: []*unstructured.Unstructured{
		kube.Named("ConfigMap", "a"),
		kube.Named("PersistentVolumeClaim", "pvc-home"), pod,
	}}
	if got := d.Claims(); !slices.Equal(got, []string{"pvc-home", "pvc-shared"}) {
		t.Errorf("%v", got)
	}
}

// A failure says why, and what to do about it; a reading without a cause has no
// hint.
func TestFailure(t *testing.T) {
	about := About(func(*v1.Cause) cause.About { return cause.About{Namespace: "dev"} })
	notFound := &v1.Cause{Code: cause.ImageNotFound, Message: "image x not found"}
	for name, test := range map[string]struct {
		reading v1.Snapshot
		says    string
		hint    bool
	}{
		"with a cause": {v1.Snapshot{Stage: v1.StageFailed, Cause: notFound}, "image x not found", true},
		"given up": {
			v1.Snapshot{Stage: v1.StagePulling, Cause: notFound, GivenUp: true},
			"image x not found",
			true,
		},
		"stopped": {v1.Snapshot{Stage: v1.StageStopped}, "the workspace is Stopped", false},
		"deleted": {
			v1.Snapshot{Stage: v1.StageTerminating},
			"the pod was deleted while it was being provisioned",
			false,
		},
	} {
		err := fault.From(about.Failure(test.reading,
			cause.Policy{StuckAfter: 10 * time.Minute, StuckAfterOrigin: "policy.stuckAfter"}))
		if test.reading.GivenUp != slices.Contains(err.Problems,
			"this will not resolve by itself; waited 10m for it (policy.stuckAfter)") {
			t.Errorf("%s: %q", name, err.Problems)
		}
		if err.Code != fault.Failed || err.Message != test.says || (err.Hint != "") != test.hint {
			t.Errorf("%s: %+v", name, err)
		}
	}
	explained := about.Explain(v1.Snapshot{Cause: notFound})
	if explained.Cause.Hint == "" || notFound.Hint != "" {
		t.Errorf("the explained cause is %+v, the reading's own %+v", explained.Cause, notFound)
	}
	if hint := About(nil).Hint(v1.Snapshot{Cause: notFound}); hint != "" {
		t.Errorf("of an unknown pod it says %q", hint)
	}
}

// A pod that is gone, or whose name another one has now, is deleted.
func TestDeletePod(t *testing.T) {
	pods := corev1.Resource("pods")
	for name, test := range map[string]struct {
		answer error
		code   fault.Code
	}{
		"it is there": {nil, ""},
		"it is gone":  {apierrors.NewNotFound(pods, "web-1"), ""},
		"another has it": {
			apierrors.NewConflict(pods, "web-1", errors.New("the UID in the precondition does not match")),
			"",
		},
		"the server rests": {apierrors.NewServiceUnavailable("busy"), fault.Unavailable},
	} {
		client := fake.NewClientset()
		var uid string
		client.PrependReactor("delete", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
			uid = string(*a.(clienttesting.DeleteActionImpl).DeleteOptions.Preconditions.UID)
			return true, nil, test.answer
		})
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "dev", UID: "this-one"}}
		err := DeletePod(t.Context(), inventory.Reader{Client: &kube.Client{Interface: client, Namespace: "dev"}}, pod)
		if fault.CodeOf(err) != test.code || uid != "this-one" {
			t.Errorf("%s: %v, of the UID %q", name, err, uid)
		}
	}
}

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
