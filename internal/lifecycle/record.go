package lifecycle

import (
	"fmt"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// Revision orders what happens to records. It only grows: wall clocks would lose a change
// that is made in the same tick as an answer.
type Revision int64

// Record is what is kept of a workspace. Its JSON is what is stored.
type Record struct {
	// ID is the canonical ID of the workspace.
	ID string `json:"id"`
	// Incarnation is a UUID. A workspace that is provisioned again after it was
	// terminated has another one.
	Incarnation string    `json:"incarnation"`
	CreatedAt   time.Time `json:"createdAt"`

	Desired Desired `json:"desired"`
	// DesiredAt is when Desired was last changed, and Changed the revision of that.
	DesiredAt time.Time `json:"desiredAt"`
	Changed   Revision  `json:"changed"`
	// Reason is why it was changed if nobody asked for it: a limit.
	Reason string `json:"reason,omitempty"`

	Actual Actual `json:"actual"`
	// ActualAt is when Actual was last changed.
	ActualAt time.Time `json:"actualAt"`
	// Cause is why the workspace is ActualFailed or ActualError.
	Cause string `json:"cause,omitempty"`
	// Version is that of the workspace's object on the cluster, as it was last reported.
	Version string `json:"version,omitempty"`

	// Answered is the revision of the last answer that had this workspace in it.
	Answered Revision `json:"answered"`
}

// New is the record of a workspace that is meant to run and was not reported yet.
func New(id, incarnation string, now time.Time) Record {
	return Record{
		ID: id, Incarnation: incarnation, CreatedAt: now, Desired: DesiredRunning, DesiredAt: now, Changed: 1,
		Actual: ActualCreationRequested, ActualAt: now,
	}
}

// Set changes what the workspace is meant to be. What it is meant to be already changes
// nothing, not even the time. Nothing comes after DesiredTerminated: CONFLICT.
func (r Record) Set(desired Desired, now time.Time) (Record, error) {
	switch {
	case !desired.Valid():
		return r, fault.New(fault.InvalidArgument, "unknown desired state %q", desired)
	case desired == DesiredRestart && r.Desired == DesiredStopped && r.Actual == ActualStopped:
		desired = DesiredRunning // there is nothing to stop, and so nothing would be reported
	}
	if desired == r.Desired {
		return r, nil
	}
	if r.Desired == DesiredTerminated {
		return r, fault.New(fault.Conflict, "workspace %s is being deleted", r.ID).
			WithHint("provision it again when it is gone; that makes a new one")
	}
	return r.desire(desired, "", now, r.next()), nil
}

// desire changes what the workspace is meant to be, at a revision.
func (r Record) desire(desired Desired, reason string, now time.Time, at Revision) Record {
	r.Desired, r.DesiredAt, r.Reason, r.Changed = desired, now, reason, at
	return r
}

// next is a revision after all that happened to the record.
func (r Record) next() Revision { return max(r.Changed, r.Answered) + 1 }

// Pending is true if what the workspace is meant to be has not been answered.
func (r Record) Pending() bool { return r.Changed > r.Answered }

// Done is true of a workspace that is terminated and is meant to be.
func (r Record) Done() bool {
	return r.Desired == DesiredTerminated && r.Actual == ActualTerminated
}

// String describes the record in errors of tests and logs.
func (r Record) String() string {
	return fmt.Sprintf("%s: desired %s, actual %s", r.ID, r.Desired, r.Actual)
}
