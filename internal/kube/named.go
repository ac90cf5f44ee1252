package kube

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Named is an object of the core API with nothing but a name.
func Named(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("v1")
	object.SetKind(kind)
	object.SetName(name)
	return object
}

// Untyped is a pointer to an object of the core API, which does not say itself of what
// kind it is.
func Untyped(kind string, object any) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	untyped := &unstructured.Unstructured{Object: content}
	untyped.SetAPIVersion("v1")
	untyped.SetKind(kind)
	return untyped, nil
}

// UntypedList is Untyped of the items of a list.
func UntypedList[T any](kind string, items []T) (objects []*unstructured.Unstructured, err error) {
	for i := range items {
		object, err := Untyped(kind, &items[i])
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// OfKind is the first object of a kind; nil if there is none.
func OfKind(objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
	if i < 0 {
		return nil
	}
	return objects[i]
}
