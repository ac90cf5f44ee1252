package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/berthdev/berth/internal/blueprint"
)

// StorageOf is the name of the storage that a claim is for.
func StorageOf(values map[string]any, claim string) string {
	all, _ := values["storages"].([]any)
	for _, storage := range all {
		if s, _ := storage.(map[string]any); s["claim"] == claim {
			return fmt.Sprint(s["name"])
		}
	}
	return claim
}

// StorageNamed is the name of the storage that a claim of a workspace is named after;
// that of the claim if it is not named after any.
func StorageNamed(id, claim string) string {
	if name, ok := strings.CutPrefix(claim, claimName(id, "")); ok {
		return name
	}
	return claim
}

// ClaimChanges are the fields in which an existing claim is not what is wanted.
// What is not wanted in particular, the API server has filled in.
func ClaimChanges(wanted, have *unstructured.Unstructured) []string {
	return differences("claimSpec", jsonValue(wanted.Object["spec"]), jsonValue(have.Object["spec"]))
}

func differences(path string, wanted, have any) (all []string) {
	fields, isMap := wanted.(map[string]any)
	if isMap {
		current, _ := have.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			all = append(all, differences(path+"."+name, fields[name], current[name])...)
		}
		return all
	}
	if reflect.DeepEqual(wanted, have) || sameQuantity(wanted, have) {
		return nil
	}
	if have == nil {
		return []string{fmt.Sprintf("%s is not set, the blueprint says %v", path, wanted)}
	}
	return []string{fmt.Sprintf("%s is %v, the blueprint says %v", path, have, wanted)}
}

func sameQuantity(a, b any) bool {
	if b == nil {
		return false
	}
	x, err := blueprint.ParseQuantity(fmt.Sprint(a))
	if err != nil {
		return false
	}
	y, err := blueprint.ParseQuantity(fmt.Sprint(b))
	return err == nil && x.Cmp(y) == 0
}

// jsonValue is a value as unstructured objects hold it: maps, lists, texts,
// int64 and float64.
func jsonValue(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		return nil // what comes from YAML and from types of the API is JSON
	}
	var out any
	if err := utiljson.Unmarshal(text, &out); err != nil {
		return nil
	}
	return out
}
