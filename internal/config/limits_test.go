package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

// What is left out limits nothing; a number of 0 allows none.
func TestLimits(t *testing.T) {
	for text, want := range map[string]Limits{
		"blueprints: /x\n": {},
		"limits: {maxActiveHours: 0.5, maxAgeHours: 8760}\n": {Limits: blueprint.Limits{
			MaxActiveHours: new(0.5),
			MaxAgeHours:    new(8760.0),
		}},
		"limits: {workspacesPerUser: 3, workspaces: 0}\n":      {WorkspacesPerUser: new(3), Workspaces: new(0)},
		"limits: {maxStoppedHours: 0, workspacesPerUser: ~}\n": {Limits: blueprint.Limits{MaxStoppedHours: new(0.0)}},
	} {
		c, err := load(t, write(t, text), "")
		if diff := cmp.Diff(want, c.Limits); err != nil || diff != "" {
			t.Errorf("%q: %v %s", text, err, diff)
		}
	}
}

// All problems of a kind are reported at once.
func TestWrongLimits(t *testing.T) {
	for text, want := range map[string][]string{
		"limits: {workspacesPerUser: -1, workspaces: -2, maxAgeHours: -3, maxActiveHours: .inf}\n": {
			":1:29: limits.workspacesPerUser: -1: must not be negative", ":1:45: limits.workspaces: -2",
			":1:62: limits.maxAgeHours: -3: must be", ":1:82: limits.maxActiveHours: +Inf",
		},
		"limits:\n  workspaces: 1.5\n  maxAgeHours: old\n  workspacesPerTeam: 3\n": {
			":2:15: expected an integer", ":3:16: expected a number", `:4:3: unknown field "workspacesPerTeam"`,
		},
	} {
		_, err := load(t, write(t, text), "")
		problems := fault.From(err).Problems
		if fault.CodeOf(err) != fault.InvalidArgument || len(problems) != len(want) {
			t.Errorf("%q: %v %q", text, err, problems)
			continue
		}
		for i, says := range want {
			if !strings.Contains(problems[i], says) {
				t.Errorf("%q: %q, want %q", text, problems[i], says)
			}
		}
	}
}
