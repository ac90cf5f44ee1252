package config

import (
	"fmt"

	"github.com/berthdev/berth/internal/blueprint"
)

// Limits are for how long workspaces run and are kept, unless their blueprint says
// something else, and how many there are. What is left out is not limited.
type Limits struct {
	blueprint.Limits `yaml:",inline"`
	// WorkspacesPerUser is how many workspaces a user has in a namespace; 0 is none.
	WorkspacesPerUser *int `yaml:"workspacesPerUser"`
	// Workspaces is how many workspaces a namespace has; 0 is none.
	Workspaces *int `yaml:"workspaces"`
}

// problems are what is wrong with the limits.
func (l Limits) problems() []string {
	problems := l.Validate()
	for _, limit := range []struct {
		name string
		n    *int
	}{{"workspacesPerUser", l.WorkspacesPerUser}, {"workspaces", l.Workspaces}} {
		if limit.n != nil && *limit.n < 0 {
			problems = append(problems, fmt.Sprintf("limits.%s: %d: must not be negative; leave it out for no limit",
				limit.name, *limit.n))
		}
	}
	return problems
}
