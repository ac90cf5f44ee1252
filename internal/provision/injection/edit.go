package injection

import (
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// set gives a field a value. What it is in is made if it is not there; in a
// workload nothing else can be in its place.
func set(object map[string]any, value any, path ...string) {
	_ = unstructured.SetNestedField(object, value, path...)
}

// add puts items at the end of a list: the first container is the one that others
// take for the workload's own.
func add(object map[string]any, items []any, path ...string) {
	if len(items) > 0 {
		set(object, slices.Concat(list(object, path...), items), path...)
	}
}

// removeNamed removes the items of these names from a list, and the list if
// nothing is left.
func removeNamed(object map[string]any, names []string, path ...string) {
	before := list(object, path...)
	left := slices.DeleteFunc(slices.Clone(before), func(item any) bool { return slices.Contains(names, nameOf(item)) })
	switch {
	case len(left) == len(before):
	case len(left) == 0:
		unstructured.RemoveNestedField(object, path...)
	default:
		set(object, left, path...)
	}
}

// lookup is the value at a path; nil if there is none.
func lookup(object map[string]any, path ...string) any {
	value, _, _ := unstructured.NestedFieldNoCopy(object, path...)
	return value
}

// list is the list at a path.
func list(object map[string]any, path ...string) []any {
	items, _ := lookup(object, path...).([]any)
	return items
}

// text is the string at a path.
func text(object map[string]any, path ...string) string {
	s, _ := lookup(object, path...).(string)
	return s
}

func nameOf(item any) string {
	named, _ := item.(map[string]any)
	return text(named, "name")
}
