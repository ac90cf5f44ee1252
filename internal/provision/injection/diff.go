package injection

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// operation is one step of a JSON patch (RFC 6902).
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// changeTo is the patch that turns a workload into after. It writes only what differs,
// and applies to this very version or not at all: a pod template can be what it was
// and the objects that belong to it not, if another run has worked in between.
func changeTo(workload, after map[string]any) (Change, error) {
	var patch []operation
	for _, path := range [][]string{{"metadata", "uid"}, {"metadata", "resourceVersion"}, {"spec", "template"}} {
		if value := lookup(workload, path...); value != nil {
			patch = append(patch, operation{Op: "test", Path: "/" + strings.Join(path, "/"), Value: value})
		}
	}
	text, err := json.Marshal(append(patch, diff("", workload, after)...))
	if err != nil {
		return Change{}, fmt.Errorf("patch: %w", err)
	}
	return Change{Patch: text, After: after}, nil
}

// diff is the patch of a value at a path.
func diff(path string, before, after any) []operation {
	switch after := after.(type) {
	case map[string]any:
		if before, ok := before.(map[string]any); ok {
			return diffOfFields(path, before, after)
		}
	case []any:
		if before, ok := before.([]any); ok {
			return diffOfItems(path, before, after)
		}
	}
	if reflect.DeepEqual(before, after) {
		return nil
	}
	return []operation{{Op: "add", Path: path, Value: after}}
}

func diffOfFields(path string, before, after map[string]any) (patch []operation) {
	for _, key := range slices.Sorted(maps.Keys(before)) {
		if _, kept := after[key]; !kept {
			patch = append(patch, operation{Op: "remove", Path: path + "/" + escape(key)})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		at := path + "/" + escape(key)
		_, isMap := after[key].(map[string]any)
		if _, there := before[key]; isMap && !there {
			// If it has been created meanwhile, it must not be overwritten.
			patch = append(patch, operation{Op: "test", Path: at, Value: json.RawMessage("null")})
		}
		patch = append(patch, diff(at, before[key], after[key])...)
	}
	return patch
}

// diffOfItems removes items, from the end, so that positions hold, and adds others
// at the end.
func diffOfItems(path string, before, after []any) (patch []operation) {
	kept := 0
	for i, item := range before {
		if kept < len(after) && reflect.DeepEqual(item, after[kept]) {
			kept++
			continue
		}
		patch = append([]operation{{Op: "remove", Path: path + "/" + strconv.Itoa(i)}}, patch...)
	}
	for _, item := range after[kept:] {
		patch = append(patch, operation{Op: "add", Path: path + "/-", Value: item})
	}
	return patch
}

// escape makes a key a part of a path, as RFC 6901 writes it.
func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// Settings are what a person tells two versions of a blueprint apart by: the image,
// the environment and the resources of the workspace's main container, among others.
func Settings(id string, containers []any) map[string]any {
	settings := map[string]any{}
	for _, item := range containers {
		c, _ := item.(map[string]any)
		if nameOf(c) != kube.Name(id, v1.MainContainer) {
			continue
		}
		env := map[string]any{}
		for _, variable := range list(c, "env") {
			fields, _ := variable.(map[string]any)
			env[nameOf(fields)] = fields["value"]
		}
		settings["image"], settings["env"], settings["resources"] = c["image"], env, c["resources"]
	}
	return settings
}

// Containers are those of a workload's pods.
func Containers(workload map[string]any) []any {
	return list(workload, "spec", "template", "spec", "containers")
}
