package manifest

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/blueprint"
)

// Growth is what has to become of a claim that exists, where its blueprint asks for
// something else now.
type Growth struct {
	// From and To are the sizes, if the claim is to grow; otherwise empty.
	From, To string
	// Problems are what a claim cannot follow.
	Problems []string
}

// GrowthOf compares a claim that exists with what is wanted. Only its size can change, and
// only upwards.
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

// ClaimSpec is what a blueprint's values ask of a claim of a workspace's own; nil if they do
// not have it.
func ClaimSpec(values map[string]any, claim string) any {
	all, _ := values["storages"].([]any)
	for _, storage := range all {
		if s, _ := storage.(map[string]any); s["claim"] == claim {
			return s["claimSpec"]
		}
	}
	return nil
}

func sizePath() []string { return []string{"resources", "requests", "storage"} }

// requested is the size that a claim asks for.
func requested(claim *unstructured.Unstructured) string {
	size, found, _ := unstructured.NestedFieldNoCopy(claim.Object, append([]string{"spec"}, sizePath()...)...)
	if !found || size == nil {
		return ""
	}
	return fmt.Sprint(size)
}

func isLarger(a, b string) (bool, error) {
	x, err := blueprint.ParseQuantity(a)
	if err != nil {
		return false, err
	}
	y, err := blueprint.ParseQuantity(b)
	return x.Cmp(y) > 0, err
}
