package apply

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/kube"
)

// Owner is whose objects are: the labels and annotations with which each of them
// is marked, and by which they are recognised.
type Owner struct {
	// Name is the owner in a message: workspace alice-1.
	Name                string
	Labels, Annotations map[string]string
	// Tags are labels that its objects get as well. An object that has lost them is still
	// recognised, and gets them back.
	Tags map[string]string
}

// Owns is true for an object that carries all marks of the owner.
func (o Owner) Owns(object *unstructured.Unstructured) bool {
	return has(object.GetLabels(), o.Labels) && has(object.GetAnnotations(), o.Annotations)
}

func has(all, some map[string]string) bool {
	for key, value := range some {
		if got, ok := all[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// mark is the object with metadata of its own, which carries the marks.
func (o Owner) mark(object *unstructured.Unstructured) *unstructured.Unstructured {
	object = kube.WithOwnMetadata(object)
	if len(o.Labels)+len(o.Tags) > 0 {
		object.SetLabels(labels.Merge(object.GetLabels(), labels.Merge(o.Tags, o.Labels)))
	}
	if len(o.Annotations) > 0 {
		object.SetAnnotations(labels.Merge(object.GetAnnotations(), o.Annotations))
	}
	return object
}
