package apply

import (
	"cmp"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Action is what was done with an object, or would be in a dry run.
type Action string

// The actions. Unchanged is also an object that was there before and could not be
// brought up to date.
const (
	Created   Action = "create"
	Updated   Action = "update"
	Deleted   Action = "delete"
	Unchanged Action = "unchanged"
)

// Change is what became of one object.
type Change struct {
	Action Action
	// Object is the object as the cluster has it; of one that was deleted, as it
	// was.
	Object *unstructured.Unstructured
	// Before is the object as it was, if it was there and has been read.
	Before *unstructured.Unstructured
	// InPlaceOf is an object of the same name that was deleted to create this one.
	InPlaceOf *unstructured.Unstructured
}

// Changes are what became of a set of objects, in the order of the set. An object
// whose state is not known, because an answer was lost, is not among them.
type Changes []Change

// Of is what became of an object, if that is known. The namespace is that of the
// object if it names none.
func (c Changes) Of(object *unstructured.Unstructured, namespace string) (Change, bool) {
	for _, change := range c {
		if object != nil && same(change.Object, object, namespace) {
			return change, true
		}
	}
	return Change{}, false
}

// Objects are the objects that were changed, as the cluster has them.
func (c Changes) Objects() []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, len(c))
	for i, change := range c {
		objects[i] = change.Object
	}
	return objects
}

// With are the changes with one of these actions.
func (c Changes) With(actions ...Action) (some Changes) {
	for _, change := range c {
		for _, action := range actions {
			if change.Action == action {
				some = append(some, change)
			}
		}
	}
	return some
}

// same is true for two descriptions of one object. The namespace is that of the
// one which names none.
func same(a, b *unstructured.Unstructured, namespace string) bool {
	return a.GetName() == b.GetName() && a.GroupVersionKind().GroupKind() == b.GroupVersionKind().GroupKind() &&
		cmp.Or(a.GetNamespace(), namespace) == cmp.Or(b.GetNamespace(), namespace)
}
