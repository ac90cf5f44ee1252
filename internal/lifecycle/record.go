// Package lifecycle keeps the desired state of workspaces, compares it with what they are,
// and says what has to be done. It decides by values alone: the program that reads the
// cluster and acts on it reports what is so, and gets back what to apply.
package lifecycle

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/store"
)

// Revision orders what happens to records. It only grows: wall clocks would lose a change
// that is made in the same tick as an answer.
type Revision int64

// Record is what is kept of a workspace. Its JSON is what is stored.
type Record struct {
	// ID is the canonical ID of the workspace.
	ID        string `json:"id"`
	Namespace string `json:"namespace,omitempty"`
	// Incarnation is a UUID. A workspace that is provisioned again after it was
	// terminated has another one.
	Incarnation string `json:"incarnation"`
	// UserString and Blueprint are what the workspace was made by.
	UserString string    `json:"userString,omitempty"`
	Blueprint  string    `json:"blueprint,omitempty"`
	CreatedAt  time.Time `json:"createdAt"`

	Desired v1.DesiredState `json:"desired"`
	// DesiredAt is when Desired was last changed, and Changed its revision then.
	DesiredAt time.Time `json:"desiredAt"`
	Changed   Revision  `json:"changed"`
	// Reason is why it was changed if nobody asked for it: a limit.
	Reason string `json:"reason,omitempty"`
	// KeepStorage is true if its storage is to stay when it is deleted.
	KeepStorage bool `json:"keepStorage,omitempty"`

	Actual v1.ActualState `json:"actual"`
	// ActualAt is when Actual was last changed.
	ActualAt time.Time `json:"actualAt"`
	// Cause is why the workspace is Failed or Error.
	Cause string `json:"cause,omitempty"`
	// Version is that of what runs on the cluster, as it was last reported: the job that has brought
	// it up.
	Version string `json:"version,omitempty"`

	// Limits are those of its blueprint.
	Limits Hours `json:"limits,omitzero"`

	// Values are those of the chart that an injected workspace was made of, as JSON: nothing
	// else on the cluster has them while it is stopped.
	Values string `json:"values,omitempty"`

	// History is how the states have changed, the oldest first; the newest of it is kept.
	History []v1.StateChange `json:"history,omitempty"`

	// Answered is the revision of the last answer that had this workspace in it.
	Answered Revision `json:"answered"`

	version   string // of the document; empty for one that does not exist
	vouched   vouched
	writtenBy string
	writtenAt time.Time
}

// New is the record of a workspace that is meant to run and was not reported yet.
func New(id, incarnation string, now time.Time) Record {
	r := Record{
		ID: id, Incarnation: incarnation, CreatedAt: now, Desired: v1.DesiredRunning, DesiredAt: now, Changed: 1,
		Actual: v1.ActualCreationRequested, ActualAt: now,
	}
	return r.noted(now)
}

// Adopted is the record of a workspace that has none: its desired state is the one that it is in. A stop is
// recorded before it is brought about, so that one whose pod is gone or over was not stopped:
// it is meant to run, which is still to be brought about.
func Adopted(id, incarnation string, created time.Time, actual v1.ActualState, now time.Time) Record {
	r := New(id, incarnation, created)
	r.History = nil
	r.Actual, r.ActualAt, r.DesiredAt = actual, now, now
	if actual != v1.ActualStopped {
		r.Answered = r.Changed
	}
	return r.noted(now)
}

// Set changes the desired state of the workspace. A desired state that it has already changes
// nothing, not even the time. Nothing comes after Terminated: CONFLICT.
func (r Record) Set(desired v1.DesiredState, now time.Time) (Record, error) {
	switch {
	case !isDesired(desired):
		return r, fault.New(fault.InvalidArgument, "unknown desired state %q", desired)
	case desired == v1.DesiredRestart && r.Desired == v1.DesiredStopped && r.Actual == v1.ActualStopped:
		desired = v1.DesiredRunning // there is nothing to stop, and so nothing would be reported
	}
	if desired == r.Desired {
		return r, nil
	}
	if r.Desired == v1.DesiredTerminated {
		return r, BeingDeleted(r)
	}
	return r.desire(desired, "", now, r.next()), nil
}

// BeingDeleted is the error of a workspace for which nothing else can be wanted any more.
func BeingDeleted(r Record) error {
	return fault.New(fault.Conflict, "workspace %s is being deleted", r.ID).
		WithHint("if its deletion was interrupted, complete it: %s; provision it again when it is gone, "+
			"which makes a new one", r.Deletion())
}

// Deletion is the command that completes the deletion of the workspace.
func (r Record) Deletion() string {
	if r.KeepStorage {
		return kube.Command("delete", r.ID, r.Namespace, "--keep-storage")
	}
	return kube.Command("delete", r.ID, r.Namespace)
}

// desire changes the desired state of the workspace, at a revision.
func (r Record) desire(desired v1.DesiredState, reason string, now time.Time, at Revision) Record {
	r.Desired, r.DesiredAt, r.Reason, r.Changed = desired, now, reason, at
	return r.noted(now)
}

// Observed takes what has become of the newest change into the record. The one who wanted it has
// brought it about, and nobody else has to, unless it is Error.
func (r Record) Observed(actual v1.ActualState, cause string, now time.Time) Record {
	if r.Actual != actual {
		r.ActualAt = now
	}
	r.Actual, r.Cause = actual, cause
	r = r.noted(now)
	if r.Desired == v1.DesiredRestart && actual == v1.ActualStopped {
		return r.desire(v1.DesiredRunning, "", now, r.next()) // the other half is still to be done
	}
	if actual != v1.ActualError {
		r.Answered = max(r.Answered, r.Changed)
	}
	return r
}

// Key is what the record is known by among those of all namespaces: NAMESPACE.ID.
func (r Record) Key() string { return Key(r.Namespace, r.ID) }

// Key is the key of a workspace's record.
func Key(namespace, id string) string {
	if namespace == "" {
		return id
	}
	return namespace + "." + id
}

// SplitKey takes a key apart.
func SplitKey(key string) (namespace, id string) {
	namespace, id, _ = strings.Cut(key, ".") // a namespace has no dots
	return namespace, id
}

// next is a revision after all that happened to the record.
func (r Record) next() Revision { return max(r.Changed, r.Answered) + 1 }

// Newer is the newer of two states of a record, this one if there is no telling: what is read
// and what is watched may arrive in another order than it was written. What changes without the
// desired state, such as limits, the version of the document tells.
func (r Record) Newer(other Record) Record {
	if other.Incarnation != r.Incarnation {
		return r
	}
	if cmp.Or(cmp.Compare(other.next(), r.next()), store.CompareRevisions(other.version, r.version)) > 0 {
		return other
	}
	return r
}

// Pending is true if the desired state of the workspace has not been answered.
func (r Record) Pending() bool { return r.Changed > r.Answered }

// Restarting is true of a workspace that was stopped for a restart and is still to start.
func (r Record) Restarting() bool {
	n := len(r.History)
	return r.Desired == v1.DesiredRunning && r.Actual == v1.ActualStopped && n > 1 &&
		r.History[n-2].Desired == v1.DesiredRestart
}

// Done is true of a workspace that is terminated, as is desired.
func (r Record) Done() bool {
	return r.Desired == v1.DesiredTerminated && r.Actual == v1.ActualTerminated
}

// String describes the record in errors of tests and logs.
func (r Record) String() string {
	return fmt.Sprintf("%s: desired %s, actual %s", r.ID, r.Desired, r.Actual)
}

// keptSteps is how many changes a record keeps, the newest.
const keptSteps = 16

// noted adds the desired and the observed state of the workspace, to its history if that has
// changed.
func (r Record) noted(now time.Time) Record {
	step := v1.StateChange{At: now.UTC(), Desired: r.Desired, Actual: r.Actual, Reason: r.Reason, Cause: r.Cause}
	if n := len(r.History); n > 0 {
		if last := r.History[n-1]; last.Desired == step.Desired && last.Actual == step.Actual &&
			last.Cause == step.Cause {
			return r
		}
	}
	first := max(0, len(r.History)+1-keptSteps)
	r.History = append(slices.Clone(r.History[first:]), step) // records share what is before it
	return r
}

// isDesired is false for a state that nobody knows.
func isDesired(d v1.DesiredState) bool {
	return slices.Contains([]v1.DesiredState{
		v1.DesiredRunning, v1.DesiredStopped, v1.DesiredRestart,
		v1.DesiredTerminated,
	}, d)
}

// isReportable is false for a state that cannot be reported.
func isReportable(a v1.ActualState) bool {
	return slices.Contains([]v1.ActualState{
		v1.ActualStarting, v1.ActualRunning, v1.ActualStopping, v1.ActualStopped, v1.ActualTerminating,
		v1.ActualTerminated, v1.ActualFailed, v1.ActualError, v1.ActualUnknown,
	}, a)
}
