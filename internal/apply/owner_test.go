package apply

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Marks and namespaces are of copies of the metadata: there may be megabytes of the rest.
func TestMarkedObjectsShareTheirContent(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a"}, "data": map[string]any{"x": "y"},
	}}
	placed, err := newCluster().applier().Placed(t.Context(), []*unstructured.Unstructured{object})
	if err != nil {
		t.Fatal(err)
	}
	marked := Owner{Labels: map[string]string{"a": "b"}, Annotations: map[string]string{"c": "d"}}.mark(placed[0])
	if marked.GetLabels()["a"] != "b" || marked.GetAnnotations()["c"] != "d" || marked.GetNamespace() == "" {
		t.Error(marked)
	}
	if object.GetNamespace() != "" || placed[0].GetLabels() != nil || placed[0].GetAnnotations() != nil {
		t.Errorf("what was given is changed: %v, %v", object, placed[0])
	}
	object.Object["data"].(map[string]any)["x"] = "z"
	if x, _, _ := unstructured.NestedString(marked.Object, "data", "x"); x != "z" {
		t.Error("the content has been copied")
	}
}
