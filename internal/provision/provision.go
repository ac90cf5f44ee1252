// Package provision is the pipeline from a user string to a workspace that can be
// entered, and back. A workspace gets a pod of its own (standalone) or goes into the
// pods of a workload (injected); deploy has what both share.
//
// Every command goes the same way. Each phase takes what those before it have returned:
//
//	gather   reads, side by side                                       -> facts
//	decide   what to do about them, rendered and checked               -> decision
//	acquire  takes the lock and looks again, or follows another run    -> progress
//	apply    writes while the lock is held: the target does it         -> progress
//	follow   until the workspace runs, or is certain not to            -> the newest reading
//	outcome  what has come of it, also of a run that ends earlier      -> Outcome
//
// A start has its facts from records (loadRecorded); an update asks before it acquires (PlanUpdate). Stop and
// Delete have no decision to make: the permissions, the lock, the target, and the end of the pods.
package provision

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/userstring"
)

// Timeout is for how long the workspace of a user string is waited for unless something else is said: 0 is for ever.
// Beside k8shell, it is what that waits, which is longer where a workload has to roll out.
func (p *Provisioner) Timeout(u userstring.UserString) time.Duration {
	switch {
	case p.Scheme != userstring.K8shell:
		return 0
	case !u.Workload.IsZero():
		return 2 * time.Minute
	}
	return 20 * time.Second
}

// Provision brings up the workspace of a user string, or follows another run that
// does, and reports on the stream. The outcome is the state of the workspace at the
// end, as far as it is known; it is also returned with an error.
func (p *Provisioner) Provision(ctx context.Context, u userstring.UserString, stream *event.Stream) (Outcome, error) {
	if err := p.mayInject(u); err != nil {
		return Outcome{}, err
	}
	s := p.For(u).begin(u, stream)
	ctx, stop := context.WithCancel(ctx) // the watches end with the run
	defer stop()
	f, err := s.gather(ctx)
	if err != nil {
		return Outcome{}, interrupted(ctx, nil, progress{}, err)
	}
	dec, err := s.decide(ctx, f)
	if err != nil {
		return Outcome{}, interrupted(ctx, nil, progress{}, err)
	}
	return s.run(ctx, dec)
}

// run carries a decision out, or follows another run that does.
func (s session) run(ctx context.Context, dec decision) (Outcome, error) {
	if dec.plan == deploy.Refuse {
		return s.alreadyUpToDate(ctx, dec)
	}
	at, err := s.acquire(ctx, dec)
	if err != nil || at.leave {
		return s.end(ctx, dec, at, err)
	}
	return s.execute(ctx, dec, at)
}

// execute carries a decision out while it is this run's turn, and follows the workspace.
func (s session) execute(ctx context.Context, dec decision, at progress) (Outcome, error) {
	var wanted lifecycle.Record
	var err error
	if at.turn.Plan != deploy.Create { // one that is created is recorded beside the rest
		if wanted, err = s.state().SetRunning(ctx, s.user, at.turn, dec.deployment); err != nil {
			return s.end(ctx, dec, at, err)
		}
	}
	at, err = s.apply(ctx, dec, at)
	if err == nil {
		at.reading, err = s.follow(ctx, dec.deployment, at)
	}
	if errors.Is(err, lock.ErrTaken) {
		s.withdraw(ctx, dec.deployment, at)
	}
	s.state().ObserveStart(ctx, wanted, at.reading, dec.deployment.OwnPod && at.pod == nil, err)
	err = s.scripts.Advise(interrupted(ctx, dec.deployment.About, at, err), s.id, s.Client.Namespace)
	s.Jobs.End(s.steps.Seq(), err)
	if s.cleansUp(at, err) {
		defer deploy.Release(ctx, at.turn.Lock)
		return s.cleanUpOnFailure(ctx, dec, at, err)
	}
	deploy.Release(ctx, at.turn.Lock)
	return s.outcome(ctx, dec, at, err), err
}

// end ends a run that has nothing more to do: it gives the lock back, and says how far it got.
func (s session) end(ctx context.Context, dec decision, at progress, err error) (Outcome, error) {
	deploy.Release(ctx, at.turn.Lock)
	err = interrupted(ctx, dec.deployment.About, at, err)
	return s.outcome(ctx, dec, at, err), err
}

// Preview is what Provision would change. It makes the same reads and checks. In a
// dry run by the server, the objects are what the API server answers.
func (p *Provisioner) Preview(ctx context.Context, u userstring.UserString, dry apply.DryRun,
	stream *event.Stream,
) (apply.Changes, error) {
	if err := p.mayInject(u); err != nil {
		return nil, err
	}
	s := p.For(u).begin(u, stream)
	dec, err := s.fromBlueprint(ctx)
	if err != nil {
		return nil, err
	}
	switch dec.plan {
	case deploy.Refuse:
		_, err := s.alreadyRunning(dec)
		return nil, err
	case deploy.Resume:
		s.steps.Note("%s is already starting: it would be followed", s.id)
		return nil, nil
	}
	return s.preview(ctx, dec, dry)
}

// preview is what carrying out the plan would change.
func (s session) preview(ctx context.Context, dec decision, dry apply.DryRun) (apply.Changes, error) {
	namespace, err := s.previewNamespace(ctx, dry)
	if err != nil {
		return nil, err
	}
	if dry == apply.DryRunServer && len(namespace) > 0 {
		s.steps.Note("namespace %s does not exist: the API server cannot check the objects in it", s.Client.Namespace)
		dry = apply.DryRunClient
	}
	changes, err := s.previewObjects(ctx, dec, dry)
	return append(shown(namespace), changes...), err
}

// previewObjects is preview in a namespace that is known to exist.
func (s session) previewObjects(ctx context.Context, dec decision, dry apply.DryRun) (apply.Changes, error) {
	shared, err := s.sharer(dry).Apply(ctx, dec.deployment.Shared)
	if err != nil {
		return nil, err
	}
	own, err := s.target.Preview(ctx, dec.plan, dec.found, dec.deployment, dry)
	return shown(slices.Concat(shared, own)), err
}

// shown are the changes without what stays as it is.
func shown(changes apply.Changes) apply.Changes {
	return withReplaced(changes.With(apply.Created, apply.Updated, apply.Deleted))
}

// withReplaced are the changes with the deletion of what is created in place of another one.
func withReplaced(changes apply.Changes) (all apply.Changes) {
	for _, change := range changes {
		if change.InPlaceOf != nil {
			all = append(all, apply.Change{Action: apply.Deleted, Object: change.InPlaceOf.DeepCopy()})
		}
		all = append(all, change)
	}
	return all
}
