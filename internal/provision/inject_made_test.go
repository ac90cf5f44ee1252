package provision

import (
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/userstring"
)

// runInto is an injection into a Deployment, on a cluster that answers so to the
// writing of a resource.
func runInto(t *testing.T, verb, resource string, answer error, objects ...*unstructured.Unstructured) *run {
	t.Helper()
	web := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apps/v1", "kind": "Deployment",
		"metadata": map[string]any{"name": "web", "namespace": "dev"},
		"spec": map[string]any{"template": map[string]any{
			"metadata": map[string]any{}, "spec": map[string]any{"containers": []any{map[string]any{"name": "web"}}},
		}},
	}}
	client := fake.NewSimpleDynamicClient(runtime.NewScheme(), web)
	client.PrependReactor(verb, resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, answer })
	r := runOn(t, nil)
	r.Client.Dynamic = client
	var err error
	if r.found.Workload, err = workload.Read(t.Context(), r.Client, id, userstring.Workload{Kind: "deployment", Name: "web"}); err != nil {
		t.Fatal(err)
	}
	r.parts = &injection.Parts{ID: id, Objects: objects, Containers: []any{map[string]any{"name": "main"}}, Labels: map[string]string{kube.LabelJobID: "mine"}}
	return r
}

// A patch that the API server declines has made nothing; one whose answer is lost
// may have.
func TestWhetherThePatchIsMade(t *testing.T) {
	web := schema.GroupResource{Group: "apps", Resource: "deployments"}
	for _, test := range []struct {
		answer error
		made   bool
	}{
		{apierrors.NewForbidden(web, "web", errors.New("denied the request")), false},
		{apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "web", nil), false},
		{apierrors.NewTimeoutError("slow", 1), true},
		{errors.New("connection reset by peer"), true},
	} {
		r := runInto(t, "patch", "deployments", test.answer)
		if err := r.inject(t.Context(), install); err == nil || r.creation.any() != test.made {
			t.Errorf("%v: %v, made: %t", test.answer, err, r.creation.any())
		}
	}
}

// That the workspace was there before is known also where a claim is refused: who
// injected it is not somebody else who came since.
func TestReplacedIsKnownBeforeAnythingIsMade(t *testing.T) {
	refused := apierrors.NewForbidden(schema.GroupResource{Resource: "persistentvolumeclaims"}, "data", errors.New("exceeded quota: q"))
	r := runInto(t, "create", "persistentvolumeclaims", refused, kube.Named("PersistentVolumeClaim", "data"))
	if err := r.inject(t.Context(), replace); err == nil || r.creation.any() {
		t.Errorf("%v, made: %t", err, r.creation.any())
	}
	there := map[string]any{"metadata": map[string]any{"annotations": map[string]any{kube.AnnotationInjection: `{"canonicalId":"` + id + `"}`}}}
	if err := r.mayUndo(there); err == nil || err.Error() != "it was there before this run" {
		t.Errorf("it says %v", err)
	}
}
