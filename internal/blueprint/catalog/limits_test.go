package catalog

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

// A limit that is left out is the template's, also one of 0, and an expression can set it.
func TestLimitsAreInherited(t *testing.T) {
	set, err := load(t, map[string]string{"team.yaml": `
blueprints:
  - name: team
    template: default
    limits: {maxActiveHours: 36, maxStoppedHours: 744}
  - name: dev
    template: team
    limits: {maxActiveHours: 0.5, maxStoppedHours: ~, maxAgeHours: !cel 'user.uid == 1000 ? 12.5 : 0.0'}
  - name: daemon
    template: team
    limits: {maxActiveHours: 0}
  - {name: plain, template: default}
`})
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	for name, want := range map[string]blueprint.Limits{
		"team":   {MaxActiveHours: new(36.0), MaxStoppedHours: new(744.0)},
		"dev":    {MaxActiveHours: new(0.5), MaxStoppedHours: new(744.0), MaxAgeHours: new(12.5)},
		"daemon": {MaxActiveHours: new(0.0), MaxStoppedHours: new(744.0)},
		"plain":  {},
	} {
		b, err := resolve(t, set, Order{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, b.Limits); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Everything that is wrong with limits is said at once, with the lines.
func TestWrongLimits(t *testing.T) {
	for text, want := range map[string][]string{
		"{maxActiveHours: soon, maxIdleHours: 1, maxAgeHours: \"3\"}": {
			"team.yaml:2:68: expected a number, found a string", `team.yaml:2:74: unknown field "maxIdleHours"`,
			"team.yaml:2:104: expected a number",
		},
		"{maxActiveHours: -1, maxStoppedHours: .nan, maxAgeHours: .inf}": {
			"team.yaml:2:68: blueprint dev: limits.maxActiveHours: -1: must be",
			"team.yaml:2:89: blueprint dev: limits.maxStoppedHours: NaN: must be",
			"team.yaml:2:108: blueprint dev: limits.maxAgeHours: +Inf: must be",
		},
		"{maxActiveHours: 1e300}":       {"team.yaml:2:68: blueprint dev: limits.maxActiveHours: 1e+300: must be"},
		"{maxActiveHours: !cel '1/0'}":  {"limits.maxActiveHours: division by zero"},
		"{maxActiveHours: !cel 'true'}": {"team.yaml:2:68: expected a number, the expression returns bool"},
	} {
		set, err := load(t, map[string]string{"team.yaml": "blueprints:\n  - {name: dev, template: default, limits: " +
			strings.Repeat(" ", 7) + text + "}\n"})
		if err == nil {
			_, err = resolve(t, set, Order{Name: "dev"})
		}
		problems := fault.From(err).Problems
		if len(problems) != len(want) {
			t.Errorf("%s: %q", text, problems)
			continue
		}
		for i, says := range want {
			if !strings.Contains(problems[i], says) {
				t.Errorf("%s: %q, want %q", text, problems[i], says)
			}
		}
	}
}

// How long a workspace is kept is up to the platform: neither a repository nor a flag changes it.
func TestLimitsAreThePlatforms(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	own := blueprint.Source{
		Name: blueprint.CustomFile,
		Text: []byte("template: default\nlimits: {maxActiveHours: 0}\n"),
	}
	for name, order := range map[string]Order{
		"a repository": {Custom: &own, As: "custom"},
		"a flag": {Name: "default", Overrides: []Override{{
			Flag: "--set", Path: "limits.maxActiveHours",
			Value: "0",
		}}},
	} {
		if _, err := resolve(t, set, order); fault.CodeOf(err) != fault.InvalidArgument {
			t.Errorf("%s sets limits: %v", name, err)
		}
	}
}
