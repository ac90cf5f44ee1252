package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
)

// check says what keeps fields from being an object: those that every object has, and what
// is wrong with them. A null in a map of texts becomes empty, as the API server reads it.
func check(fields map[string]any) (problems []string) {
	if fields["apiVersion"] == nil && fields["kind"] == nil {
		return []string{"no Kubernetes object: it has neither apiVersion nor kind"}
	}
	problems = checkKind(fields)
	metadata, ok := fields["metadata"].(map[string]any)
	if !ok {
		if fields["metadata"] != nil {
			return append(problems, "metadata: must be a mapping, is "+describe(fields["metadata"]))
		}
		return append(problems, "metadata.name: required")
	}
	name, isText := metadata["name"].(string)
	switch {
	case metadata["name"] != nil && !isText:
		problems = append(problems, "metadata.name: must be a string, is "+describe(metadata["name"])+": quote it")
	case name == "" && metadata["generateName"] != nil:
		problems = append(problems, "metadata.name: required: generateName makes another object each time")
	case name == "":
		problems = append(problems, "metadata.name: required")
	default:
		problems = append(problems, segment("metadata.name", name)...)
	}
	switch namespace := metadata["namespace"].(type) {
	case nil:
		delete(metadata, "namespace")
	case string:
		problems = append(problems, segment("metadata.namespace", namespace)...)
	default:
		problems = append(problems, "metadata.namespace: must be a string, is "+describe(namespace)+": quote it")
	}
	for _, key := range []string{"labels", "annotations"} {
		problems = append(problems, checkTexts(metadata, key)...)
	}
	return problems
}

// checkKind checks apiVersion and kind.
func checkKind(fields map[string]any) (problems []string) {
	for _, key := range []string{"apiVersion", "kind"} {
		text, ok := fields[key].(string)
		switch {
		case fields[key] != nil && !ok:
			problems = append(problems, key+": must be a string, is "+describe(fields[key]))
			continue
		case text == "":
			problems = append(problems, key+": required")
			continue
		}
		version := text
		if group, v, grouped := strings.Cut(text, "/"); grouped && key == "apiVersion" {
			version = v
			if len(validation.IsDNS1123Subdomain(group)) > 0 {
				version = ""
			}
		}
		if len(validation.IsDNS1035Label(strings.ToLower(version))) > 0 {
			problems = append(problems, fmt.Sprintf("invalid %s %q", key, text))
		}
	}
	return problems
}

// checkTexts checks a map of texts.
func checkTexts(metadata map[string]any, key string) (problems []string) {
	entries, ok := metadata[key].(map[string]any)
	if metadata[key] == nil {
		delete(metadata, key)
		return nil
	}
	if !ok {
		return []string{fmt.Sprintf("metadata.%s: must be a mapping, is %s", key, describe(metadata[key]))}
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		switch entries[name].(type) {
		case string:
		case nil:
			entries[name] = ""
		default:
			problems = append(problems, fmt.Sprintf("metadata.%s.%s: must be a string, is %s: quote it", key, name,
				describe(entries[name])))
		}
	}
	return problems
}

// segment checks a name that becomes a part of a URL.
func segment(field, name string) []string {
	if problems := content.IsPathSegmentName(name); len(problems) > 0 {
		return []string{fmt.Sprintf("%s: invalid name %q: %s", field, name, strings.Join(problems, "; "))}
	}
	return nil
}

// list gives the items of a list of objects, and the apiVersion and kind of each if the
// list is one of a kind.
func list(fields map[string]any) (items []any, parent string, ok bool) {
	kind, _ := fields["kind"].(string)
	version, _ := fields["apiVersion"].(string)
	items, hasItems := fields["items"].([]any)
	of, isList := strings.CutSuffix(kind, "List")
	switch {
	case !isList, !hasItems && (of != "" || fields["items"] != nil):
		return nil, "", false
	case of != "":
		parent = version + " " + of
	}
	return items, parent, true
}

// parentKind is the kind of an item of a list.
func parentKind(parent string) schema.GroupVersionKind {
	version, kind, _ := strings.Cut(parent, " ")
	return schema.FromAPIVersionAndKind(version, kind)
}

// label is an object at the beginning of a problem, as far as it is known.
func label(object *unstructured.Unstructured) string {
	kind, _ := object.Object["kind"].(string)
	metadata, _ := object.Object["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	if text := strings.TrimSpace(kind + " " + name); text != "" {
		return text + ": "
	}
	return ""
}

// describe names the kind of a value.
func describe(v any) string {
	switch v.(type) {
	case map[string]any:
		return "a mapping"
	case []any:
		return "a list"
	case string:
		return "text"
	case bool:
		return "true or false"
	case nil:
		return "nothing"
	default:
		return "a number"
	}
}
