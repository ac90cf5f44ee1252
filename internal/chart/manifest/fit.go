package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/scheme"
)

// fit makes of an object of a kind that Kubernetes itself has one that the API server takes at each update: it takes
// more when something is created. Fields that the kind does not have go, and of entries of a list that have one key
// those that do not count, such as the first of two variables of one name: dropped says what went. Refused are entries
// that count both, such as two named ports of one number. Of a newer API server unknown fields may be new: unknown are
// those that stay for that.
func fit(object *unstructured.Unstructured, newer bool, known types) (dropped, refused, unknown []string) {
	typed, err := scheme.Scheme.New(object.GroupVersionKind())
	if err != nil {
		return nil, nil, nil // of a kind that this program does not know
	}
	f := fitting{newer: newer, types: known}
	f.table(object.Object, reflect.TypeOf(typed).Elem(), "")
	return f.dropped, f.refused, f.unknown
}

type fitting struct {
	newer                     bool
	types                     types
	dropped, refused, unknown []string
}

// types are what is known of the types that have been looked at: most objects are of few kinds.
type types map[reflect.Type]*typeInfo

// typeInfo is a type without pointers.
type typeInfo struct {
	readsItself bool
	fields      map[string]field // of a struct
}

// field is one of a struct: its type, and the keys by which the entries of a list are merged.
type field struct {
	of   reflect.Type
	keys []string
}

func (t types) of(of reflect.Type) *typeInfo {
	info, ok := t[of]
	if !ok {
		info = &typeInfo{readsItself: readsItself(of), fields: map[string]field{}}
		if of.Kind() == reflect.Struct && !info.readsItself {
			for name, f := range fieldsOf(of) {
				info.fields[name] = field{f.Type, mergeKeys(f)}
			}
		}
		t[of] = info
	}
	return info
}

func (f *fitting) drop(format string, args ...any) {
	f.dropped = append(f.dropped, fmt.Sprintf(format, args...))
}

// value fits what is at a path into a type.
func (f *fitting) value(v any, t reflect.Type, path string, keys []string) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if f.types.of(t).readsItself {
		return v
	}
	switch v := v.(type) {
	case map[string]any:
		switch t.Kind() {
		case reflect.Struct:
			f.table(v, t, path)
		case reflect.Map:
			for _, key := range slices.Sorted(maps.Keys(v)) {
				v[key] = f.value(v[key], t.Elem(), path+"."+key, nil)
			}
		}
	case []any:
		if t.Kind() != reflect.Slice {
			return v
		}
		for i := range v {
			v[i] = f.value(v[i], t.Elem(), fmt.Sprintf("%s[%d]", path, i), nil)
		}
		return f.list(v, path, keys)
	}
	return v
}

// leftOut is said of a field that goes.
const leftOut = " is not a field, and is left out"

// table drops the fields that a struct does not have.
func (f *fitting) table(fields map[string]any, t reflect.Type, path string) {
	known := f.types.of(t).fields
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		field, ok := known[name]
		switch {
		case !ok && f.newer:
			f.unknown = append(f.unknown, strings.TrimPrefix(path+"."+name, "."))
		case !ok:
			delete(fields, name)
			f.drop("%s%s", strings.TrimPrefix(path+"."+name, "."), leftOut)
		case fields[name] != nil:
			fields[name] = f.value(fields[name], field.of, path+"."+name, field.keys)
		}
	}
}

// list drops entries that have the keys of a later one and do not count beside it.
func (f *fitting) list(items []any, path string, keys []string) []any {
	if len(keys) == 0 {
		return items
	}
	seen, kept := map[string]map[string]any{}, []any{}
	for _, item := range slices.Backward(items) {
		fields, ok := item.(map[string]any)
		if id := identify(fields, keys); ok && id != "" {
			later, twice := seen[id]
			switch at := strings.TrimPrefix(path, "."); {
			case twice && !counts(fields, later, path):
				f.drop("%s has %s more than once: the last one counts", at, id)
				continue
			case twice:
				f.refused = append(f.refused,
					fmt.Sprintf("%s has %s more than once, and both count: no upgrade could apply them", at, id))
			}
			seen[id] = fields
		}
		kept = append(kept, item)
	}
	slices.Reverse(kept)
	return kept
}

// counts says whether an entry means anything beside a later one with its keys: of variables the last one alone does,
// and a port of a container is no more than its name and what it is on the node.
func counts(entry, later map[string]any, path string) bool {
	switch {
	case strings.HasSuffix(path, ".env"), reflect.DeepEqual(entry, later):
		return false
	case entry["containerPort"] != nil:
		return entry["name"] != nil || entry["hostPort"] != nil
	}
	return true
}

// identify is an entry by its keys; empty if it lacks the first one.
func identify(fields map[string]any, keys []string) string {
	var parts []string
	for i, key := range keys {
		value, ok := fields[key]
		if !ok && i == 0 {
			return ""
		}
		if !ok && key == "protocol" {
			value = "TCP"
		}
		parts = append(parts, fmt.Sprintf("%s %v", key, value))
	}
	return strings.Join(parts, ", ")
}

// mergeKeys are the keys by which the API server merges the entries of a list. What the Go types say is what kubectl
// merges by, to which server-side apply has added.
func mergeKeys(field reflect.StructField) []string {
	if !strings.Contains(field.Tag.Get("patchStrategy"), "merge") {
		return nil
	}
	switch key := field.Tag.Get("patchMergeKey"); key {
	case "":
		return nil
	case "containerPort", "port":
		return []string{key, "protocol"}
	case "topologyKey":
		return []string{key, "whenUnsatisfiable"}
	default:
		return []string{key}
	}
}

// fieldsOf are the fields of a struct by the name that they have in JSON, those of embedded ones included.
func fieldsOf(t reflect.Type) map[string]reflect.StructField {
	known := map[string]reflect.StructField{}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && field.Anonymous, strings.Contains(options, "inline"):
			inner := field.Type
			if inner.Kind() == reflect.Pointer {
				inner = inner.Elem()
			}
			maps.Copy(known, fieldsOf(inner))
		case name != "":
			known[name] = field
		}
	}
	return known
}

// readsItself says whether a type is read in a way of its own, such as a quantity.
func readsItself(t reflect.Type) bool {
	return t.Kind() != reflect.Interface && reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())
}
