package provision

import (
	"context"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
)

// recorded reads the record; a store that does not answer keeps nobody for long.
func (s session) recorded(ctx context.Context) (lifecycle.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, recordTime)
	defer cancel()
	return s.states().Get(ctx, s.id)
}

// alreadyUpToDate ends a run that has nothing to do, as the workspace runs. If it was not meant to, a
// stop of it may be under way, or may have been killed: then it is meant to run from now on,
// unless the stop was faster. One that is to be deleted stays so.
func (s provisioning) alreadyUpToDate(ctx context.Context, in inputs) (Outcome, error) {
	if err := s.stay(ctx); err != nil {
		return Outcome{}, interrupted(ctx, nil, ending{}, err)
	}
	o, err := s.alreadyRunning(in)
	if failed := s.past(ctx, in.found, o.Workspace); failed != nil {
		return Outcome{Workspace: o.Workspace, Logs: s.scripts.Tail(), Left: v1.LeftKept}, failed
	}
	return o, err
}

// past is the failure of the init scripts of a workspace that runs, where that is one: they
// may have failed while nobody looked, or another run has said so.
func (s provisioning) past(ctx context.Context, found inventory.Found, w *v1.Workspace) error {
	if !s.scripts.Strict(found.Pods()) {
		return nil
	}
	s.ReadScripts(ctx, found, w)
	s.scripts.Seen(*w)
	return s.scripts.Failure(s.id, s.Client.Namespace)
}

func (s provisioning) stay(ctx context.Context) error {
	if !s.keepsStates() || s.Intent != nil {
		return nil
	}
	r, err := s.recorded(ctx)
	switch {
	case err != nil:
		s.notRecorded(err)
		return nil
	case r.ID == "" || r.Desired == v1.DesiredRunning:
		return nil
	case r.Desired == v1.DesiredTerminated:
		return lifecycle.BeingDeleted(r)
	}
	held, err := s.lockFor(ctx, forProvisioning)
	if err != nil {
		return err
	}
	defer s.release(ctx, held)
	found, err := s.lookup(ctx)
	if err != nil {
		return err
	}
	if s.target.Decide(found, deploy.Deployment{}) != deploy.Refuse {
		return fault.New(fault.Conflict, "workspace %s was stopped meanwhile", s.id).
			WithHint("start it: `%s`", fault.Command("berth", "start", s.user.String()))
	}
	now := s.Now().UTC()
	_, err = s.record(ctx, held, func(r lifecycle.Record) (lifecycle.Record, error) {
		if r.ID == "" || r.Desired == v1.DesiredRunning {
			return r, nil
		}
		r, err := r.Set(v1.DesiredRunning, now)
		return r.Observed(v1.ActualRunning, "", now), err
	})
	return err
}
