package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/berthdev/berth/internal/blueprint"
)

// ClaimChanges are the fields in which an existing claim is not what is wanted.
// What is not wanted in particular, the API server has filled in.
func ClaimChanges(wanted, have *unstructured.Unstructured) []string {
	return differences("claimSpec", jsonValue(wanted.Object["spec"]), jsonValue(have.Object["spec"]))
}

// Growth is what has to become of a claim that exists, where its blueprint asks for something else now.
type Growth struct {
	// From and To are the sizes, if the claim is to grow; otherwise empty.
	From, To string
	// Problems are what a claim cannot follow.
	Problems []string
}

// GrowthOf compares a claim that exists with what is wanted. Only its size can change, and only upwards.
func GrowthOf(wanted, have *unstructured.Unstructured) Growth {
	var g Growth
	want, has := requested(wanted), requested(have)
	spec, _, _ := unstructured.NestedMap(wanted.Object, "spec")
	unstructured.RemoveNestedField(spec, sizePath()...)
	current, _, _ := unstructured.NestedMap(have.Object, "spec")
	g.Problems = differences("claimSpec", jsonValue(spec), jsonValue(current))
	if want == "" || sameQuantity(want, has) {
		return g
	}
	larger, err := isLarger(want, has)
	switch {
	case err != nil, !larger:
		g.Problems = append(g.Problems,
			fmt.Sprintf("claimSpec.resources.requests.storage is %s, the blueprint says %s", has, want))
	default:
		g.From, g.To = has, want
	}
	return g
}

// requested is the size that a claim asks for.
func requested(claim *unstructured.Unstructured) string {
	size, found, _ := unstructured.NestedFieldNoCopy(claim.Object, append([]string{"spec"}, sizePath()...)...)
	if !found || size == nil {
		return ""
	}
	return fmt.Sprint(size)
}

func sizePath() []string { return []string{"resources", "requests", "storage"} }

func isLarger(a, b string) (bool, error) {
	x, err := blueprint.ParseQuantity(a)
	if err != nil {
		return false, err
	}
	y, err := blueprint.ParseQuantity(b)
	return x.Cmp(y) > 0, err
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

// jsonValue is a value as unstructured objects hold it: maps, lists, texts, int64 and float64.
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
