package catalog

import (
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// Anyone who mistypes the name of a blueprint is told which one was meant, and who has none yet how to add one.
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
