package kube

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// Named is an object of the core API with nothing but a name.
func Named(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("v1")
	object.SetKind(kind)
	object.SetName(name)
	return object
}
