package schema

import (
	"errors"
	"fmt"
	"net/url"
	"reflect"
	"strconv"
	"strings"
)

// maxAlternatives is how many schemas may apply to one value.
const maxAlternatives = 10_000

// OutsideError is the error of a reference that is not followed: to another document, or by
// a name.
type OutsideError string

func (e OutsideError) Error() string { return "the schema refers to " + string(e) }

// references follows the references of a schema, as it is written.
type references struct {
	root    any
	applied map[uintptr]int // how many schemas apply to a value with this one; 0 while that is counted
}

// check looks at a schema and everything in it.
func (r *references) check(node any) error {
	switch node := node.(type) {
	case map[string]any:
		if _, err := r.count(node); err != nil {
			return err
		}
		for _, below := range node {
			if err := r.check(below); err != nil {
				return err
			}
		}
	case []any:
		for _, below := range node {
			if err := r.check(below); err != nil {
				return err
			}
		}
	}
	return nil
}

// count is how many schemas apply to a value to which this one applies.
func (r *references) count(node any) (total int, err error) {
	schema, ok := node.(map[string]any)
	if !ok {
		return 1, nil
	}
	id := reflect.ValueOf(schema).Pointer()
	if known, ok := r.applied[id]; ok {
		if known == 0 {
			return 0, errors.New("the schema refers to itself without end")
		}
		return known, nil
	}
	r.applied[id] = 0
	total = 1
	for _, next := range r.inPlace(schema) {
		if err, ok := next.(error); ok {
			return 0, err
		}
		n, err := r.count(next)
		if total += n; err == nil && total > maxAlternatives {
			err = fmt.Errorf("more than %d schemas apply to one value", maxAlternatives)
		}
		if err != nil {
			return 0, err
		}
	}
	r.applied[id] = total
	return total, nil
}

// inPlace are the schemas that apply to the same value as this one; an error is one that is
// not found.
func (r *references) inPlace(schema map[string]any) (next []any) {
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
		if reference, ok := schema[key].(string); ok {
			next = append(next, r.target(reference))
		}
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		some, _ := schema[key].([]any)
		next = append(next, some...)
	}
	for _, key := range []string{"not", "if", "then", "else"} {
		if schema[key] != nil {
			next = append(next, schema[key])
		}
	}
	for _, key := range []string{"dependentSchemas", "dependencies"} {
		some, _ := schema[key].(map[string]any)
		for _, one := range some {
			next = append(next, one)
		}
	}
	return next
}

// target is what a reference names: a JSON pointer into the same document.
func (r *references) target(reference string) any {
	pointer, err := url.PathUnescape(strings.TrimPrefix(reference, "#"))
	if err != nil || !strings.HasPrefix(reference, "#") || pointer != "" && pointer[0] != '/' {
		return OutsideError(reference)
	}
	node := r.root
	for _, key := range strings.Split(pointer, "/")[1:] {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		switch parent := node.(type) {
		case map[string]any:
			node = parent[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(parent) {
				return fmt.Errorf("%s is not in the schema", reference)
			}
			node = parent[i]
		default:
			node = nil
		}
		if node == nil {
			return fmt.Errorf("%s is not in the schema", reference)
		}
	}
	return node
}
