package manifest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// derived are the values that differ between any two runs, or follow from others; and the
// limits, which the pod has nothing of.
func derived() []string {
	return []string{"annotations", "gitSecret", "helper", "home", "id", "labels", limitsValue, "names"}
}

// contents are values that may be long, or secret: only that they differ is said.
func contents() []string { return []string{"configuration", "extFiles", "initScripts"} }

// Drift says in which of the chart's values a running workspace is not what would be
// deployed now: "image alpine:3 → alpine:4". Of a variable only the name is given.
func Drift(running, wanted map[string]any) (all []string) {
	have, want := map[string]string{}, map[string]string{}
	flatten("", running, have)
	flatten("", wanted, want)
	paths := maps.Clone(have)
	maps.Copy(paths, want)
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		root, _, _ := strings.Cut(path, ".")
		switch {
		case have[path] == want[path] || slices.Contains(derived(), root):
		case slices.Contains(contents(), root):
			all = append(all, root)
		case root == "env":
			all = append(all, path)
		default:
			all = append(all, fmt.Sprintf("%s %s → %s", path, cmp.Or(have[path], "not set"), cmp.Or(want[path], "not set")))
		}
	}
	return slices.Compact(all)
}

// flatten gives every scalar a path. An item of a list is found by its name, if it
// has one.
func flatten(path string, value any, into map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			flatten(strings.TrimPrefix(path+"."+key, "."), field, into)
		}
	case []any:
		for i, item := range value {
			fields, _ := item.(map[string]any)
			name, ok := fields["name"].(string)
			if !ok {
				name = strconv.Itoa(i + 1)
			}
			flatten(path+"."+name, item, into)
		}
	case nil:
	default:
		into[path] = fmt.Sprint(value)
	}
}
