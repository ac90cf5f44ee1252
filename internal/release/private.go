package release

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// applyPrivate makes what belongs to the release and must not be in its record.
// The record would be what removes it: instead it is owned by an object that is,
// so that Kubernetes removes it with that one, also after `helm uninstall`.
func (a Applier) applyPrivate(ctx context.Context, made []*unstructured.Unstructured) error {
	for _, object := range a.Private {
		if _, err := a.create(ctx, ownedBy(object, made)); err != nil {
			return err
		}
	}
	return nil
}

// ownedBy gives an object to the first ConfigMap, which every release has.
func ownedBy(object *unstructured.Unstructured, made []*unstructured.Unstructured) *unstructured.Unstructured {
	out := object.DeepCopy()
	for _, m := range made {
		if m != nil && m.GetKind() == "ConfigMap" {
			out.SetOwnerReferences([]metav1.OwnerReference{
				{APIVersion: m.GetAPIVersion(), Kind: m.GetKind(), Name: m.GetName(), UID: m.GetUID()},
			})
			break
		}
	}
	return out
}
