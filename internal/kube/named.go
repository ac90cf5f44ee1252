package kube

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Named is an object of the core API with nothing but a name.
func Named(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("v1")
	object.SetKind(kind)
	object.SetName(name)
	return object
}

// OfKind is the first object of a kind; nil if there is none.
func OfKind(objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
	if i < 0 {
		return nil
	}
	return objects[i]
}
