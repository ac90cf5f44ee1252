package controller

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

func classOf(o *unstructured.Unstructured) string {
	class, _, _ := unstructured.NestedString(o.Object, "spec", "provisionerClassName")
	return class
}

// own is the key of an object of one of the classes.
func own(kind string, o *unstructured.Unstructured, classes []string) []Key {
	if !slices.Contains(classes, classOf(o)) {
		return nil
	}
	return []Key{{Kind: kind, Name: o.GetName()}}
}

// owner is the key of the instance that a bundle says it belongs to.
func owner(o *unstructured.Unstructured) []Key {
	labels := o.GetLabels()
	if labels[v1alpha1.LabelOwnerKind] != v1alpha1.KindInstance || labels[v1alpha1.LabelOwnerName] == "" {
		return nil
	}
	return []Key{{Kind: v1alpha1.KindInstance, Name: labels[v1alpha1.LabelOwnerName]}}
}

// thin is what is kept in memory of an object: what says whether it has changed, and
// whose work it is.
func thin(o *unstructured.Unstructured) *unstructured.Unstructured {
	kept := &unstructured.Unstructured{Object: map[string]any{
		"spec": map[string]any{"provisionerClassName": classOf(o)},
	}}
	kept.SetGroupVersionKind(o.GroupVersionKind())
	kept.SetName(o.GetName())
	kept.SetUID(o.GetUID())
	kept.SetResourceVersion(o.GetResourceVersion())
	kept.SetGeneration(o.GetGeneration())
	kept.SetLabels(o.GetLabels())
	kept.SetAnnotations(o.GetAnnotations())
	kept.SetFinalizers(o.GetFinalizers())
	kept.SetDeletionTimestamp(o.GetDeletionTimestamp())
	return kept
}
