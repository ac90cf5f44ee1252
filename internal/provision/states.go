package provision

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
)

// recordTime is how long recording a state may take, also after an interruption.
const recordTime = 5 * time.Second

// keepsStates is false where nobody asks the desired state of workspaces.
func (p *Provisioner) keepsStates() bool { return p.States.Client != nil }

// states are the records of the namespace.
func (p *Provisioner) states() lifecycle.Records { return p.States.Of(p.Client.Namespace) }

// setDesired records the desired state of a workspace that was found.
func (s session) setDesired(ctx context.Context, held *lock.Lock, desired v1.DesiredState,
	found inventory.Found,
) (lifecycle.Record, error) {
	if s.Intent != nil {
		return s.intended(ctx)
	}
	now := s.Now().UTC()
	return s.record(ctx, held, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.ID == "" {
			r = adopted(s.id, found, now)
		}
		r.Namespace = s.Client.Namespace
		return r.Set(desired, now)
	})
}

// record writes what is wanted while the lock is held, if that has to be confirmed: also if
// others have changed the record, or the time for it has passed, maybe while this process was
// suspended.
func (s session) record(ctx context.Context, held *lock.Lock,
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
		r, err := s.states().Change(limited, s.id, confirmed)
		late := err != nil && limited.Err() != nil && ctx.Err() == nil
		cancel()
		switch {
		case !late:
			return r, err
		case last:
			return r, fault.New(fault.Unavailable, "the desired state of workspace %s was not recorded within %s: %w", s.id,
				recordTime, err)
		}
	}
}

// setDesiredGone records that a workspace is to be deleted, if anything is recorded of it.
func (s session) setDesiredGone(ctx context.Context, held *lock.Lock, keepStorage bool) (lifecycle.Record, error) {
	switch {
	case !s.keepsStates():
		return lifecycle.Record{}, nil
	case s.Intent != nil:
		return s.intended(ctx)
	}
	r, err := s.record(ctx, held, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.ID == "" {
			return r, nil
		}
		r.KeepStorage = keepStorage
		return r.Set(v1.DesiredTerminated, s.Now().UTC())
	})
	switch {
	case fault.CodeOf(err) == fault.PermissionDenied: // a right to delete is enough without one to record
		err = nil
	case fault.ReasonOf(err) == lifecycle.ReasonUnreadable: // it goes with the workspace
		r, err = lifecycle.Record{ID: s.id}, nil
	}
	return r, err
}

// forget deletes the record of a workspace that is gone. If that fails, the loop does it, or
// anyone who provisions the workspace again.
func (s session) forget(ctx context.Context, r lifecycle.Record) {
	if r.ID == "" || s.Intent != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	s.deleteRecord(ctx, r)
}

// deleteStaleRecord deletes what is recorded of a workspace that is gone.
func (p *Provisioner) deleteStaleRecord(ctx context.Context, id string) {
	if !p.keepsStates() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	r, err := p.states().Get(ctx, id)
	if fault.ReasonOf(err) == lifecycle.ReasonUnreadable {
		r, err = lifecycle.Record{ID: id}, nil
	}
	if err == nil && r.ID != "" {
		p.deleteRecord(ctx, r)
	}
}

// deleteRecord deletes a record, also if a loop has written into it meanwhile what it sees.
func (p *Provisioner) deleteRecord(ctx context.Context, r lifecycle.Record) {
	const tries = 5
	for range tries {
		if fault.CodeOf(p.states().Delete(ctx, r)) != fault.Conflict {
			return
		}
		now, err := p.states().Get(ctx, r.ID)
		if err != nil || now.Incarnation != r.Incarnation || now.Desired != r.Desired {
			return
		}
		r = now
	}
}

// lostPod is true for a workspace that was installed and has no pod of its own any more.
func lostPod(turn deploy.Turn, d deploy.Deployment) bool {
	return d.OwnPod && turn.Found.Record != nil && turn.Found.Pod == nil
}

// setDesiredRunning records that the workspace is meant to run, its limits, and of an injected one
// what it is made of. One with a pod of its own that was never stopped and that its blueprint
// does not limit has no record, and needs none as long as it has that pod.
func (s provisioning) setDesiredRunning(ctx context.Context, turn deploy.Turn,
	d deploy.Deployment,
) (r lifecycle.Record, err error) {
	held, plan := turn.Lock, turn.Plan
	switch {
	case !s.keepsStates():
		return r, nil
	case s.Intent != nil:
		return s.intended(ctx)
	}
	values, limits := "", lifecycle.Hours{}
	if plan.Writes() {
		limits = limitsIn(d.Chart.Values)
	}
	if !d.OwnPod && plan.Writes() {
		text, err := json.Marshal(d.Chart.Values)
		if err != nil {
			return r, fmt.Errorf("values of workspace %s: %w", s.id, err)
		}
		values = string(text)
	}
	now := s.Now().UTC()
	return s.record(ctx, held, func(r lifecycle.Record) (lifecycle.Record, error) {
		switch {
		case r.ID == "" && values == "" && limits == lifecycle.Hours{} && !lostPod(turn, d):
			return r, nil // as it stands, it is meant to run
		case plan == deploy.Update && r.Desired == v1.DesiredTerminated:
			return r, lifecycle.BeingDeleted(r)
		case plan == deploy.Create || r.Desired == v1.DesiredTerminated:
			r = lifecycle.New(s.id, uuid.NewString(), now)
		case r.ID == "":
			r = lifecycle.New(s.id, uuid.NewString(), createdAt(turn.Found, now))
		}
		r.Namespace, r.Values = s.Client.Namespace, cmp.Or(values, r.Values)
		r.UserString, r.Blueprint = s.user.String(), cmp.Or(d.Spec.Blueprint.Name, r.Blueprint)
		if plan.Writes() {
			r.Limits = limits
		}
		if plan == deploy.Create { // it is recorded once everything is created
			r = r.Observed(v1.ActualStarting, "", now)
		}
		return r.Set(v1.DesiredRunning, now)
	})
}

// setObserved records what has become of what was wanted, unless somebody has wanted something
// else since. If that fails, the loop or the next command finds out.
func (s session) setObserved(ctx context.Context, known lifecycle.Record, actual v1.ActualState, cause string) {
	if known.ID == "" || s.Intent != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTime)
	defer cancel()
	now := s.Now().UTC()
	_, _ = s.states().ChangeFrom(ctx, s.id, known, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.Incarnation != known.Incarnation || r.Changed != known.Changed {
			return r, nil
		}
		return r.Observed(actual, cause, now), nil
	})
}

// started records how far a run has brought a workspace that is meant to run.
func (s provisioning) started(ctx context.Context, wanted lifecycle.Record, ownPod bool, e ending, err error) {
	switch code := fault.CodeOf(err); {
	case code == fault.Failed && ownPod && e.pod == nil: // it was refused: nothing is on the cluster
		s.setObserved(ctx, wanted, v1.ActualError, fault.From(err).Message)
	case e.reading.Stage != "" && (err == nil || code == fault.Failed):
		seen := lifecycle.Seen{Pods: true, Reading: e.reading}
		actual, cause := seen.Of(wanted)
		s.setObserved(ctx, wanted, actual, cause)
	case code == fault.Failed:
		s.setObserved(ctx, wanted, v1.ActualError, fault.From(err).Message)
	}
}

// notRecorded warns about a record that could not be written, and that nothing else depends on.
func (s session) notRecorded(err error) {
	s.steps.Warn("NotRecorded", "", "it is not recorded that the workspace is meant to run: "+err.Error())
}
