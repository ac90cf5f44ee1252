package manifest

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// node is a part of the schema of a definition: what others wrote, of which what is not as it has to be says nothing.
type node map[string]any

func (n node) child(key string) node {
	of, _ := n[key].(map[string]any)
	return of
}

func (n node) text(key string) string {
	text, _ := n[key].(string)
	return text
}

func (n node) is(key string) bool {
	set, _ := n[key].(bool)
	return set
}

// takesAll is true for a schema that says nothing of the fields.
func (n node) takesAll() bool {
	return len(n.child("properties")) == 0 && (len(n) == 0 || n.is(preserve) || n["additionalProperties"] != nil)
}

// The extensions of Kubernetes to a schema.
const (
	preserve    = "x-kubernetes-preserve-unknown-fields"
	embedded    = "x-kubernetes-embedded-resource"
	intOrString = "x-kubernetes-int-or-string"
	listType    = "x-kubernetes-list-type"
	listKeys    = "x-kubernetes-list-map-keys"
)

// custom fits a custom resource into the schema of its definition.
type custom struct {
	fitting
	absent []string // fields that the schema does not have
}

func (c *custom) refuse(path, format string, args ...any) {
	c.refused = append(c.refused, strings.TrimPrefix(path, ".")+" "+fmt.Sprintf(format, args...))
}

// metadata drops what no metadata has.
func (c *custom) metadata(object map[string]any) {
	if metadata, ok := object["metadata"].(map[string]any); ok {
		c.types = types{}
		c.table(metadata, reflect.TypeFor[metav1.ObjectMeta](), ".metadata")
	}
}

// fields drops the fields that a schema does not have, and looks at the others; those that every object has are known
// in an object.
func (c *custom) fields(fields map[string]any, n node, path string, object bool) {
	properties, others := n.child("properties"), n.child("additionalProperties")
	open := n.is(preserve) || n.is("additionalProperties")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		of, known := properties[name].(map[string]any)
		at := path + "." + name
		switch {
		case object && (name == "apiVersion" || name == "kind" || name == "metadata"):
		case known:
			c.value(fields[name], of, at)
		case others != nil:
			c.value(fields[name], others, at)
		case !open:
			delete(fields, name)
			c.absent = append(c.absent, strings.TrimPrefix(at, "."))
		}
	}
}

// value looks at what is at a path. A null is as if nothing were there.
func (c *custom) value(v any, n node, path string) {
	kind := n.text("type")
	if v == nil || kind == "" && !n.is(intOrString) {
		return
	}
	if wanted := expects(v, kind, n.is(intOrString)); wanted != "" {
		c.refuse(path, "must be %s, is %s", wanted, describe(v))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		c.fields(v, n, path, n.is(embedded))
	case []any:
		items := n.child("items")
		for i := range v {
			c.value(v[i], items, fmt.Sprintf("%s[%d]", path, i))
		}
		c.entries(v, n, path)
	}
}

// expects is what a value has to be, if it is something else.
func expects(v any, kind string, either bool) string {
	switch {
	case isOf(v, kind, either):
		return ""
	case either:
		return "a whole number or text"
	}
	return map[string]string{
		"integer": "a whole number", "object": "a mapping", "array": "a list", "string": "text: quote it",
		"boolean": "true or false", "number": "a number",
	}[kind]
}

// isOf is true for a value of a type; either is a whole number or text.
func isOf(v any, kind string, either bool) bool {
	switch v := v.(type) {
	case map[string]any:
		return kind == "object"
	case []any:
		return kind == "array"
	case string:
		return kind == "string" || either
	case bool:
		return kind == "boolean"
	case float64:
		return kind == "number" || (kind == "integer" || either) && v == math.Trunc(v)
	}
	return kind == "number" || kind == "integer" || either
}

// entries refuses two entries of a list that are one for the API server.
func (c *custom) entries(items []any, n node, path string) {
	seen := map[string]bool{}
	for _, item := range items {
		id := ""
		switch fields, isMap := item.(map[string]any); {
		case n.text(listType) == "set":
			id = fmt.Sprintf("%#v", item)
		case n.text(listType) == "map" && isMap:
			id = identifyBy(fields, n)
		}
		if id != "" && seen[id] {
			c.refuse(path, "has %s more than once, which its definition does not let", id)
		}
		seen[id] = true
	}
}

// identifyBy is an entry by the keys that a definition names; what it lacks is what the definition sets.
func identifyBy(fields map[string]any, list node) string {
	keys, _ := list[listKeys].([]any)
	var parts []string
	for _, k := range keys {
		key, _ := k.(string)
		value, ok := fields[key]
		if !ok {
			value, ok = list.child("items").child("properties").child(key)["default"]
		}
		if ok {
			parts = append(parts, fmt.Sprintf("%s %v", key, value))
		}
	}
	return strings.Join(parts, ", ")
}
