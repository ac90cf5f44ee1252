package lifecycle

import (
	"slices"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
)

// keptSteps is how many changes a record keeps, the newest.
const keptSteps = 16

// noted adds the desired and the observed state of the workspace, to its history if that has
// changed.
func (r Record) noted(now time.Time) Record {
	step := v1.StateChange{At: now.UTC(), Desired: r.Desired, Actual: r.Actual, Reason: r.Reason, Cause: r.Cause}
	if n := len(r.History); n > 0 {
		if last := r.History[n-1]; last.Desired == step.Desired && last.Actual == step.Actual && last.Cause == step.Cause {
			return r
		}
	}
	first := max(0, len(r.History)+1-keptSteps)
	r.History = append(slices.Clone(r.History[first:]), step) // records share what is before it
	return r
}
