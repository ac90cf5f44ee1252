package manifest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
)

// Limits are in the values, from which they can be read again, and in nothing that is made
// of them: other limits are no other pod.
func TestLimitsAreNotInThePod(t *testing.T) {
	b := blueprint.Blueprint{Name: "dev", Image: "alpine"}
	without := render(t, spec(t, "alice~dev", b))
	b.Limits = blueprint.Limits{MaxActiveHours: new(0.5), MaxAgeHours: new(0.0)}
	with := render(t, spec(t, "alice~dev", b))
	if diff := cmp.Diff(without.Objects, with.Objects); diff != "" {
		t.Errorf("limits change objects: %s", diff)
	}
	if diff := cmp.Diff(b.Limits, LimitsIn(with.Values)); diff != "" {
		t.Error(diff)
	}
	if got := Drift(without.Values, with.Values); got != nil {
		t.Errorf("limits are a difference: %q", got)
	}
}

// What somebody else has written limits nothing.
func TestLimitsInAnyValues(t *testing.T) {
	for name, value := range map[string]any{
		"nothing": nil, "a text": "soon", "a list": []any{1.0}, "a negative number": map[string]any{"maxAgeHours": -1.0},
		"another type": map[string]any{"maxAgeHours": "1", "maxActiveHours": 1.0},
	} {
		if got := LimitsIn(map[string]any{limitsValue: value}); got != (blueprint.Limits{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
