// Package desired keeps the desired state of workspaces: it records what a command wants and what has become of
// it, adopts what has no record, and says whether what somebody else has recorded may be carried out.
package desired

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

// State is the desired and the observed state of one workspace of the reader's namespace.
type State struct {
	Reader inventory.Reader
	Place  lifecycle.Place // where it is recorded; zero for nowhere
	ID     string
	// Workload is what the workspace is injected into; zero for a pod of its own.
	Workload userstring.Workload
	// Intent is what is brought about for somebody else; nil for the caller's own wish.
	Intent *Intent
}

// recordTime is how long recording a state may take, also after an interruption.
const recordTime = 5 * time.Second

// IsKept is false where nobody asks the desired state of workspaces.
func (s State) IsKept() bool { return s.Place.Client != nil }

// Read reads the record; an empty one if there is none.
func (s State) Read(ctx context.Context) (lifecycle.Record, error) { return s.records().Get(ctx, s.ID) }

// ReadInTime is Read that a store which does not answer keeps for a moment only.
func (s State) ReadInTime(ctx context.Context) (lifecycle.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	return s.Read(ctx)
}

func (s State) records() lifecycle.Records { return s.Place.Of(s.namespace()) }

func (s State) namespace() string { return s.Reader.Client.Namespace }

func (s State) now() time.Time { return s.Reader.Now().UTC() }

// Exists says whether there is a workspace: of one that is not in its workload, only the
// record may say so.
func (s State) Exists(ctx context.Context, found inventory.Found) (bool, error) {
	if found.Exists() || !s.IsKept() {
		return found.Exists(), nil
	}
	r, err := s.Read(ctx)
	return r.ID != "" && r.Desired != v1.DesiredTerminated, err
}

// WasStopped says whether somebody has stopped the workspace, and nobody has started it since.
func (s State) WasStopped(ctx context.Context) (bool, error) {
	if !s.IsKept() {
		return false, nil
	}
	r, err := s.Read(ctx)
	return r.Desired == v1.DesiredStopped || r.Desired == v1.DesiredRestart, err
}

// UserString is the user string of the workspace, as its objects say; if that is empty, as is recorded.
func (s State) UserString(ctx context.Context, user string) (userstring.UserString, error) {
	if user == "" && s.IsKept() {
		r, err := s.Read(ctx)
		if err != nil {
			return userstring.UserString{}, err
		}
		user = r.UserString
	}
	u, err := userstring.ParseCanonical(user)
	if err != nil {
		err = fault.New(fault.Failed, "the user string of workspace %s is not known: %w", s.ID, err).
			WithHint("provision it again by its user string")
	}
	return u.Naming(s.ID), err
}

// Set records the desired state of a workspace that was found.
func (s State) Set(ctx context.Context, held *lock.Lock, desired v1.DesiredState,
	found inventory.Found,
) (lifecycle.Record, error) {
	if s.Intent != nil {
		return s.intended(ctx)
	}
	now := s.now()
	return s.record(ctx, held, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.ID == "" {
			r = adopted(s.ID, found, now)
		}
		r.Namespace = s.namespace()
		return r.Set(desired, now)
	})
}

// SetRunning records that the workspace is meant to run, its limits, and of an injected one
// what it is made of. One with a pod of its own that was never stopped and that its blueprint
// does not limit has no record, and needs none as long as it has that pod.
func (s State) SetRunning(ctx context.Context, user userstring.UserString, turn deploy.Turn,
	d deploy.Deployment,
) (r lifecycle.Record, err error) {
	held, plan := turn.Lock, turn.Plan
	switch {
	case !s.IsKept():
		return r, nil
	case s.Intent != nil:
		return s.intended(ctx)
	}
	values, limits, err := s.valuesAndLimits(d, plan)
	if err != nil {
		return r, err
	}
	lostPod := d.OwnPod && turn.Found.Record != nil && turn.Found.Pod == nil
	now := s.now()
	return s.record(ctx, held, func(r lifecycle.Record) (lifecycle.Record, error) {
		switch {
		case r.ID == "" && values == "" && limits == lifecycle.Hours{} && !lostPod:
			return r, nil // as it stands, it is meant to run
		case plan == deploy.Update && r.Desired == v1.DesiredTerminated:
			return r, lifecycle.BeingDeleted(r)
		case plan == deploy.Create || r.Desired == v1.DesiredTerminated:
			r = lifecycle.New(s.ID, uuid.NewString(), now)
		case r.ID == "":
			r = lifecycle.New(s.ID, uuid.NewString(), createdAt(turn.Found, now))
		}
		r.Namespace, r.Values = s.namespace(), cmp.Or(values, r.Values)
		r.UserString, r.Blueprint = user.String(), cmp.Or(d.Spec.Blueprint.Name, r.Blueprint)
		if plan.Writes() {
			r.Limits = limits
		}
		if plan == deploy.Create { // it is recorded once everything is created
			r = r.Observed(v1.ActualStarting, "", now)
		}
		return r.Set(v1.DesiredRunning, now)
	})
}

// valuesAndLimits is what is recorded of a workspace that is made by a plan: its limits, and the values of an injected
// one.
func (s State) valuesAndLimits(
	d deploy.Deployment, plan deploy.Plan,
) (values string, limits lifecycle.Hours, err error) {
	if !plan.Writes() {
		return "", limits, nil
	}
	limits = limitsIn(d.Chart.Values)
	if d.OwnPod {
		return "", limits, nil
	}
	text, err := json.Marshal(d.Chart.Values)
	if err != nil {
		return "", limits, fmt.Errorf("values of workspace %s: %w", s.ID, err)
	}
	return string(text), limits, nil
}

// SetStillRunning records that a workspace that runs is meant to run from now on, if it was not.
func (s State) SetStillRunning(ctx context.Context, held *lock.Lock) error {
	now := s.now()
	_, err := s.record(ctx, held, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.ID == "" || r.Desired == v1.DesiredRunning {
			return r, nil
		}
		r, err := r.Set(v1.DesiredRunning, now)
		return r.Observed(v1.ActualRunning, "", now), err
	})
	return err
}

// SetGone records that the workspace is to be deleted, if anything is recorded of it.
func (s State) SetGone(ctx context.Context, held *lock.Lock, keepStorage bool) (lifecycle.Record, error) {
	switch {
	case !s.IsKept():
		return lifecycle.Record{}, nil
	case s.Intent != nil:
		return s.intended(ctx)
	}
	r, err := s.record(ctx, held, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.ID == "" {
			return r, nil
		}
		r.KeepStorage = keepStorage
		return r.Set(v1.DesiredTerminated, s.now())
	})
	switch {
	case fault.CodeOf(err) == fault.PermissionDenied: // a right to delete is enough without one to record
		err = nil
	case fault.ReasonOf(err) == lifecycle.ReasonUnreadable: // it goes with the workspace
		r, err = lifecycle.Record{ID: s.ID}, nil
	}
	return r, err
}

// record writes what is wanted while the lock is held, if that has to be confirmed: also if
// others have changed the record, or the time for it has passed, maybe while this process was
// suspended.
func (s State) record(ctx context.Context, held *lock.Lock,
	decide func(lifecycle.Record) (lifecycle.Record, error),
) (lifecycle.Record, error) {
	confirmed := func(r lifecycle.Record) (lifecycle.Record, error) {
		if held != nil {
			if err := held.Confirm(ctx); err != nil {
				return r, err
			}
		}
		return decide(r)
	}
	for last := false; ; last = true {
		limited, cancel := context.WithTimeout(ctx, recordTime)
		r, err := s.records().Change(limited, s.ID, confirmed)
		late := err != nil && limited.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case !late:
			return r, err
		case last:
			return r, fault.New(fault.Unavailable, "the desired state of workspace %s was not recorded within %s: %w",
				s.ID, recordTime, err)
		}
	}
}
