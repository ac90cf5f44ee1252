package kube_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// The annotation is added to those that there are, if there are any.
func TestAnnotate(t *testing.T) {
	o := &unstructured.Unstructured{Object: map[string]any{"kind": "ConfigMap"}}
	kube.Annotate(o, "a", "1")
	kube.Annotate(o, "b", "2")
	kube.Annotate(o, "a", "3")
	if diff := cmp.Diff(map[string]string{"a": "3", "b": "2"}, o.GetAnnotations()); diff != "" {
		t.Error(diff)
	}
}

// Metadata that is set is that of the copy alone; nothing else is copied, however large.
func TestWithOwnMetadata(t *testing.T) {
	object := func() *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"kind": "ConfigMap", "metadata": map[string]any{"name": "a", "labels": map[string]any{"a": "b"}},
			"data": map[string]any{"x": "y"},
		}}
	}
	o := object()
	c := kube.WithOwnMetadata(o)
	c.SetLabels(map[string]string{"a": "c"})
	c.SetAnnotations(map[string]string{"a": "c"})
	c.SetNamespace("n")
	c.SetOwnerReferences(append(c.GetOwnerReferences(), metav1.OwnerReference{Name: "o"}))
	if diff := cmp.Diff(object(), o); diff != "" {
		t.Error(diff)
	}
	if c.GetNamespace() != "n" || c.GetName() != "a" || c.GetLabels()["a"] != "c" || len(c.GetOwnerReferences()) != 1 {
		t.Error(c)
	}
	o.Object["data"].(map[string]any)["x"] = "z"
	if x, _, _ := unstructured.NestedString(c.Object, "data", "x"); x != "z" {
		t.Error("the data is a copy")
	}
	without := kube.WithOwnMetadata(&unstructured.Unstructured{Object: map[string]any{"kind": "x"}})
	if without.GetKind() != "x" {
		t.Error(without)
	}
}
