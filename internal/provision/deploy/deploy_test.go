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
		"given up":     {v1.Snapshot{Stage: v1.StagePulling, Cause: notFound, GivenUp: true}, "image x not found", true},
		"stopped":      {v1.Snapshot{Stage: v1.StageStopped}, "the workspace is Stopped", false},
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
