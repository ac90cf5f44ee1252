package chart

import (
	"maps"
	"slices"
	"testing"
	"text/template"

	"github.com/berthdev/berth/internal/bundle/chart/budget"
)

// A function without a bound would be called with a nil one; a bound without a function is
// one of a function with another name.
func TestEveryFunctionHasABound(t *testing.T) {
	all := functions(t.Context(), nil)
	maps.Copy(all, (&engine{}).own(template.New("a")))
	bounds := budget.Table()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if bounds[name] == nil {
			t.Errorf("function %s has no bound", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		if all[name] == nil {
			t.Errorf("bound %s has no function", name)
		}
	}
}
