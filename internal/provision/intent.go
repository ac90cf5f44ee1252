package provision

import (
	"context"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
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

// deletesStorage is false for a deletion that keeps the storage, as its record says so or
// does not show that its author may delete it.
func (i Intent) deletesStorage(r lifecycle.Record) bool {
	return i.Guarded && !r.KeepStorage && r.VouchesForStorage()
}

// reasonSuperseded is the reason of the error of an intent that is not the newest any more.
const reasonSuperseded = "SUPERSEDED"

// IsSuperseded is true for the error of an intent that is not the newest any more.
func IsSuperseded(err error) bool { return fault.ReasonOf(err) == reasonSuperseded }

// superseded is the error of an intent that somebody else has brought about, or replaced.
func (s session) superseded() error {
	return fault.New(fault.Conflict, "a newer change to workspace %s supersedes this one", s.id).
		WithReason(reasonSuperseded)
}

// intended reads the record, with the lock held, and makes sure that the intent is its newest.
func (s session) intended(ctx context.Context) (lifecycle.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	r, err := s.states().Get(ctx, s.id)
	if err == nil && IntentOf(r, s.Intent.Guarded) != *s.Intent {
		err = s.superseded()
	}
	if err == nil {
		err = s.vouched(r)
	}
	return r, err
}

// vouched returns an error for what is intended and its record does not vouch for.
func (s session) vouched(r lifecycle.Record) error {
	if s.Intent == nil || !s.Intent.Guarded {
		return nil
	}
	return r.Vouched(s.in.String())
}

// startable returns an error for what is to be started and was recorded by somebody
// who need not be able to start it, or has more rights than workspaces have.
func (s session) startable(found inventory.Found) error {
	if s.Intent == nil || !s.Intent.Guarded || found.Record == nil || release.IsGuarded(found.Record) {
		return nil
	}
	return fault.New(fault.Failed, "Helm's record of workspace %s does not say that its author may create pods", s.id).
		WithReason(lifecycle.ReasonUnvouched).
		WithHint("make it of what its blueprint says: %s", kube.Command("update", s.id, s.Client.Namespace))
}
