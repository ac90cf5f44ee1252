package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// maxAlternatives is how many schemas may apply to one value.
const maxAlternatives = 10_000

// references follows the references of a schema, as it is written.
type references struct {
	root    any
	applied map[uintptr]int // how many schemas apply to a value with this one; 0 while that is counted
}

// maxMoved is how much of a schema may be written a second time, in bytes.
const maxMoved = 8 << 20

// settle takes the references out that are not followed, to another document or by a name, and gives them. What is
// referred to in a place where the validator expects no schema, such as a container of definitions that a chart has
// made up, is written among the definitions as well. So is what is in "definitions" where there is "$defs", too: the
// validator takes one of them.
func (r *references) settle() (outside []string, err error) {
	root, ok := r.root.(map[string]any)
	if !ok {
		return nil, nil
	}
	moved := moving{references: r, into: "definitions", definitions: map[string]any{}, names: map[string]string{}}
	if root["$defs"] != nil {
		moved.into = "$defs"
	}
	both := withBoth(root)
	err = eachSchema(root, func(schema map[string]any) error {
		for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef"} {
			reference, ok := schema[key].(string)
			switch {
			case !ok:
			case !isPointer(reference):
				delete(schema, key)
				if !slices.Contains(outside, reference) {
					outside = append(outside, reference)
				}
			case !leadsToSchema(reference), len(both) > 0 && strings.Contains(reference, "/definitions/"):
				name, err := moved.name(reference)
				if err != nil {
					return err
				}
				schema[key] = "#/" + moved.into + "/" + name
			}
		}
		return nil
	})
	for _, schema := range both {
		delete(schema, "definitions")
	}
	if err != nil || len(moved.names) == 0 {
		return outside, err
	}
	if definitions, ok := root[moved.into].(map[string]any); ok {
		maps.Copy(definitions, moved.definitions)
	} else {
		root[moved.into] = moved.definitions
	}
	return outside, nil
}

// withBoth are the schemas that have both "definitions" and "$defs".
func withBoth(root map[string]any) (schemas []map[string]any) {
	_ = eachSchema(root, func(schema map[string]any) error {
		if schema["$defs"] != nil && schema["definitions"] != nil {
			schemas = append(schemas, schema)
		}
		return nil
	})
	return schemas
}

// moving are the schemas that are written among the definitions as well.
type moving struct {
	*references
	into        string // the key of the definitions
	definitions map[string]any
	names       map[string]string // by the reference
	size        int               // in bytes
}

// name is the name of what a reference leads to, among the definitions.
func (m *moving) name(reference string) (string, error) {
	if name, known := m.names[reference]; known {
		return name, nil
	}
	target := m.target(reference)
	if err, ok := target.(error); ok {
		return "", err
	}
	text, err := json.Marshal(target)
	if m.size += len(text); err != nil || m.size > maxMoved {
		return "", fmt.Errorf("its references lead to more than %d MiB", maxMoved>>20)
	}
	name := fmt.Sprintf("berth-moved-%d", len(m.names)+1)
	m.names[reference], m.definitions[name] = name, target
	return name, nil
}

// eachSchema calls do with everything that may be a schema, in the order of keys.
func eachSchema(node any, do func(map[string]any) error) error {
	switch node := node.(type) {
	case map[string]any:
		if err := do(node); err != nil {
			return err
		}
		for _, key := range slices.Sorted(maps.Keys(node)) {
			if slices.Contains([]string{"const", "default", "enum", "examples"}, key) {
				continue // a value
			}
			if err := eachSchema(node[key], do); err != nil {
				return err
			}
		}
	case []any:
		for _, below := range node {
			if err := eachSchema(below, do); err != nil {
				return err
			}
		}
	}
	return nil
}

// isPointer says whether a reference is a JSON pointer into the same document.
func isPointer(reference string) bool {
	pointer, ok := strings.CutPrefix(reference, "#")
	return ok && (pointer == "" || pointer[0] == '/')
}

// leadsToSchema says whether the way of a pointer goes through keywords alone that have schemas.
func leadsToSchema(reference string) bool {
	const one, named = 1, 2 // how many segments there are to a schema
	steps := map[string]int{
		"$defs": named, "definitions": named, "properties": named, "patternProperties": named,
		"dependentSchemas": named,
		"dependencies":     named, "allOf": named, "anyOf": named, "oneOf": named, "prefixItems": named,
		"items": one, "additionalItems": one, "additionalProperties": one, "contains": one, "propertyNames": one,
		"not": one, "if": one, "then": one, "else": one, "unevaluatedItems": one, "unevaluatedProperties": one,
	}
	segments := strings.Split(strings.TrimPrefix(reference, "#"), "/")[1:]
	for len(segments) > 0 {
		n := steps[segments[0]]
		if n == one && segments[0] == "items" && len(segments) > 1 && steps[segments[1]] == 0 {
			n = named // a list of them
		}
		if n == 0 || n > len(segments) {
			return false
		}
		segments = segments[n:]
	}
	return true
}

// check looks at a schema and everything in it.
func (r *references) check(node any) error {
	return eachSchema(node, func(schema map[string]any) error {
		_, err := r.count(schema)
		return err
	})
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
	if err != nil {
		return fmt.Errorf("%s: %w", reference, err)
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
