package desired

import (
	"context"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// Intent is a change of the desired state of a workspace that somebody else has recorded, and
// that is brought about for them. Nothing is recorded then, and nothing is done once there
// is a newer change.
type Intent struct {
	Incarnation string
	Changed     lifecycle.Revision
	// Guarded is true where the cluster admits records only of authors who may do themselves
	// what they vouch for. What is not vouched for is not done then. Where it is false, all
	// that is recorded is believed, and no storage is deleted.
	Guarded bool
}

// IntentOf is the newest change of a record.
func IntentOf(r lifecycle.Record, guarded bool) Intent {
	return Intent{r.Incarnation, r.Changed, guarded}
}

// DeletesStorage is false for a deletion that keeps the storage, as its record says so or
// does not show that its author may delete it.
func (i Intent) DeletesStorage(r lifecycle.Record) bool {
	return i.Guarded && !r.KeepStorage && r.VouchesForStorage()
}

// reasonSuperseded is the reason of the error of an intent that is not the newest any more.
const reasonSuperseded = "SUPERSEDED"

// IsSuperseded is true for the error of an intent that is not the newest any more.
func IsSuperseded(err error) bool { return fault.ReasonOf(err) == reasonSuperseded }

// Superseded is the error of an intent that somebody else has brought about, or replaced.
func (s State) Superseded() error {
	return fault.New(fault.Conflict, "a newer change to workspace %s supersedes this one", s.ID).
		WithReason(reasonSuperseded)
}

// intended reads the record, with the lock held, and makes sure that the intent is its newest.
func (s State) intended(ctx context.Context) (lifecycle.Record, error) {
	r, err := s.ReadInTime(ctx)
	if err == nil && IntentOf(r, s.Intent.Guarded) != *s.Intent {
		err = s.Superseded()
	}
	if err == nil {
		err = s.vouched(r)
	}
	return r, err
}

// IsGuarded is true for an intent that is carried out only as far as its record vouches for it.
func (s State) IsGuarded() bool { return s.Intent != nil && s.Intent.Guarded }

// vouched returns an error for what is intended and its record does not vouch for.
func (s State) vouched(r lifecycle.Record) error {
	if !s.IsGuarded() {
		return nil
	}
	return r.Vouched(s.Workload.String())
}
