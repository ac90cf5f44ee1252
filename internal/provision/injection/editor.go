package injection

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
)

// operation is one step of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// editor changes an object and keeps how, as a JSON patch: of the fields that
// nobody asked it to change, none is ever written.
type editor struct {
	object map[string]any
	ops    []operation
}

// edit begins with a copy of the object. The patch applies to this very pod
// template or not at all. The resourceVersion would be too much to ask: every
// pod that becomes ready during a rollout is another one, and a busy workload
// would never be patched.
func edit(object map[string]any) *editor {
	e := &editor{object: runtime.DeepCopyJSON(object)}
	for _, path := range [][]string{{"metadata", "uid"}, {"spec", "template"}} {
		if value := lookup(object, path...); value != nil {
			e.ops = append(e.ops, operation{Op: "test", Path: pointer(path), Value: value})
		}
	}
	return e
}

func (e *editor) patch() ([]byte, error) {
	patch, err := json.Marshal(e.ops)
	if err != nil {
		return nil, fmt.Errorf("patch: %w", err)
	}
	return patch, nil
}

// set gives a field a value. What it stands in is made if it is not there.
func (e *editor) set(value any, path ...string) {
	parent, key := path[:len(path)-1], path[len(path)-1]
	within, ok := lookup(e.object, parent...).(map[string]any)
	if !ok {
		// If somebody has made it meanwhile, what is theirs must not be overwritten.
		e.ops = append(e.ops, operation{Op: "test", Path: pointer(parent), Value: json.RawMessage("null")})
		e.set(map[string]any{key: value}, parent...)
		return
	}
	within[key] = value
	e.ops = append(e.ops, operation{Op: "add", Path: pointer(path), Value: value})
}

// remove removes a field that is there. What it stood in is left, be it empty: by
// then somebody may have put something there, and to the API an empty map and
// none are the same.
func (e *editor) remove(path ...string) {
	parent, key := path[:len(path)-1], path[len(path)-1]
	within, ok := lookup(e.object, parent...).(map[string]any)
	if _, there := within[key]; !ok || !there {
		return
	}
	delete(within, key)
	e.ops = append(e.ops, operation{Op: "remove", Path: pointer(path)})
}

// add puts items at the end of a list: the first container is the one that
// others take for the workload's own.
func (e *editor) add(items []any, path ...string) {
	if len(items) == 0 {
		return
	}
	list, ok := lookup(e.object, path...).([]any)
	if !ok {
		e.set(items, path...)
		return
	}
	for _, item := range items {
		e.ops = append(e.ops, operation{Op: "add", Path: pointer(path) + "/-", Value: item})
	}
	e.replace(append(list, items...), path)
}

// removeNamed removes the items of these names from a list, and the list if
// nothing is left.
func (e *editor) removeNamed(names []string, path ...string) {
	list, _ := lookup(e.object, path...).([]any)
	var left []any
	for _, item := range list {
		if !slices.Contains(names, nameOf(item)) {
			left = append(left, item)
		}
	}
	if len(left) == len(list) {
		return
	}
	if len(left) == 0 {
		e.remove(path...)
		return
	}
	for i, item := range slices.Backward(list) { // from the end, so that positions hold
		if slices.Contains(names, nameOf(item)) {
			e.ops = append(e.ops, operation{Op: "remove", Path: pointer(path) + "/" + strconv.Itoa(i)})
		}
	}
	e.replace(left, path)
}

// replace changes the copy alone.
func (e *editor) replace(value any, path []string) {
	if within, ok := lookup(e.object, path[:len(path)-1]...).(map[string]any); ok {
		within[path[len(path)-1]] = value
	}
}

// lookup is the value at a path; nil if there is none.
func lookup(object map[string]any, path ...string) any {
	var value any = object
	for _, key := range path {
		within, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = within[key]
	}
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

// pointer is a path as RFC 6901 writes it.
func pointer(path []string) string {
	escape := strings.NewReplacer("~", "~0", "/", "~1")
	var b strings.Builder
	for _, key := range path {
		b.WriteString("/" + escape.Replace(key))
	}
	return b.String()
}
