package catalog

import (
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// For a mistyped name of a blueprint the error says which one is meant, for any other one how to add a blueprint.
func TestBlueprintNotFound(t *testing.T) {
	s := &Set{entries: map[string]entry{"default": {}, "plain": {}, "base": {isTemplate: true}}}
	for name, want := range map[string]string{
		"plian": "did you mean plain? Or choose one of: default, plain",
		"dev":   "choose one of: default, plain; `berth help blueprints` says how to add one",
	} {
		if _, err := s.find(name); fault.CodeOf(err) != fault.NotFound || fault.From(err).Hint != want {
			t.Errorf("%s: %v, %q", name, err, fault.From(err).Hint)
		}
	}
}
