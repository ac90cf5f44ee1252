package blueprint

import "fmt"

// Limits are for how long a workspace runs, and how long it is kept, in hours: 0.5 is half
// an hour. 0 is for ever; what is left out is as the configuration has it.
type Limits struct {
	// MaxActiveHours is how long a workspace runs until it is stopped.
	MaxActiveHours *float64 `yaml:"maxActiveHours" json:"maxActiveHours,omitempty"`
	// MaxStoppedHours is how long a workspace stays stopped until it is deleted, with its
	// storages.
	MaxStoppedHours *float64 `yaml:"maxStoppedHours" json:"maxStoppedHours,omitempty"`
	// MaxAgeHours is how old a workspace gets until it is deleted, with its storages,
	// whether it runs or not.
	MaxAgeHours *float64 `yaml:"maxAgeHours" json:"maxAgeHours,omitempty"`
}

// The bounds of a limit: what enforces it looks every ten seconds, and ten years are enough.
const (
	minHours = 0.01
	maxHours = 10 * 365 * 24
)

// Validate returns the problems of limits, each as "limits.FIELD: message".
func (l Limits) Validate() (problems []string) {
	for _, limit := range []struct {
		name  string
		hours *float64
	}{{"maxActiveHours", l.MaxActiveHours}, {"maxStoppedHours", l.MaxStoppedHours}, {"maxAgeHours", l.MaxAgeHours}} {
		if h := limit.hours; h != nil && *h != 0 && !(*h >= minHours && *h <= maxHours) { // not a number is neither
			problems = append(problems, fmt.Sprintf("limits.%s: %g: must be a number of hours from %g to %d, or 0 for no limit", limit.name, *h, minHours, maxHours))
		}
	}
	return problems
}
