package recorded

import (
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/lifecycle"
)

// Due adds to a workspace what a limit will make of it, and when: that of its blueprint, or
// of the configuration. Of one without a record nothing is known.
func Due(w v1.Workspace, r lifecycle.Record, configured lifecycle.Limits) v1.Workspace {
	next, ok := configured.For(r).Next(r)
	if w.State == nil || !ok || !printable(next.At) {
		return w
	}
	state := *w.State
	state.Next = &v1.NextState{Desired: next.Desired, Limit: next.Limit, From: v1.LimitOfConfiguration, At: next.At.UTC()}
	if r.Limits.Has(next.Limit) {
		state.Next.From = v1.LimitOfBlueprint
	}
	w.State = &state
	return w
}

// printable reports whether a time can be written into a document: a record can have any.
func printable(at time.Time) bool { return at.UTC().Year() <= 9999 }
