package provision

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/release"
	"github.com/berthdev/berth/internal/watch/follow"
)

// progress is how far a run got, from the lock to its end.
type progress struct {
	// turn is what the run works with while it holds the lock.
	turn deploy.Turn
	// leave is true if the run ends without an error, as another one does the work.
	leave bool

	found   inventory.Found // before the run created anything
	result  deploy.Result   // what it created
	reading v1.Snapshot     // the newest
	pod     *corev1.Pod     // nil without one, or if the pods are a workload's
	job     string          // that the workspace belongs to
	left    v1.Left         // empty if it follows from the rest
}

// acquire takes the lock, in a namespace that it creates if that is wanted.
func (s session) acquire(ctx context.Context, dec decision) (progress, error) {
	at, err := s.tryAcquire(ctx, dec)
	if !s.CreateNamespace || !kube.IsNamespaceMissing(err) {
		return at, err
	}
	if err := s.createNamespace(ctx); err != nil {
		return progress{}, err
	}
	return s.tryAcquire(ctx, dec)
}

// tryAcquire takes the lock while the watches open. While another run provisions
// the workspace, that is followed.
func (s session) tryAcquire(ctx context.Context, dec decision) (progress, error) {
	at := progress{turn: deploy.Turn{Found: dec.found, Plan: dec.plan}, found: dec.found, job: s.jobID}
	opened := make(chan error, 1)
	go func() {
		var err error
		at.turn.Follower, err = s.target.Watch(ctx, dec.found, dec.deployment)
		opened <- err
	}()
	locker := deploy.Locker(s.Reader, deploy.ForProvisioning)
	locker.Job = s.jobID
	held, holder, err := locker.Try(ctx, s.id, nil)
	if watchErr := <-opened; err == nil {
		err = watchErr
	}
	at.turn.Lock = held
	switch {
	case err != nil:
		return at, err
	case held != nil && dec.plan == deploy.Create:
		return at, nil // creating the record finds out whether still nothing is there
	case held != nil && dec.kept && held.Created() && s.Intent == nil:
		at.turn.Kept = true // writing the record finds out whether it was changed; an intent writes none
		return at, nil
	case held != nil:
		if at, err = s.lookAgain(ctx, dec, at); err == nil && s.Intent != nil && at.turn.Plan == deploy.Refuse {
			err = s.state().Superseded() // the command that recorded it has started it
		}
		return at, err
	case s.Intent != nil: // the holder has recorded what is wanted, or will be asked again
	case holder.Purpose == deploy.ForProvisioning && s.NoWait:
		return s.leaveTo(ctx, dec, at, holder)
	case holder.Purpose == deploy.ForProvisioning, s.WaitForLock:
		return s.waitFor(ctx, dec, at, locker, holder)
	}
	if at.turn.Lock, err = s.expire(ctx, locker, holder); err != nil {
		return at, err
	}
	return s.lookAgain(ctx, dec, at)
}

// expire takes a lock that should have been renewed, unless its holder
// comes back within the time that the lock lasts. k8shell's lasts for longer than a command may go without a word:
// it is taken over with --wait.
func (s session) expire(ctx context.Context, locker lock.Locker, holder *lock.Observed) (*lock.Lock, error) {
	if !holder.Overdue || holder.Expired() {
		return nil, deploy.Busy(s.id, holder)
	}
	s.steps.Note("%s has not renewed the lock; waiting for it to expire", holder.Holder.Human())
	return locker.Wait(ctx, s.id, holder, func(seen *lock.Observed) error {
		if seen != holder {
			return deploy.Busy(s.id, seen)
		}
		return nil
	})
}

// lookAgain decides again under the lock: what was found before may have been
// another run's work in progress. What the cluster has refused to that run since
// then, it would refuse to this one too.
func (s session) lookAgain(ctx context.Context, dec decision, at progress) (progress, error) {
	var err error
	if at.turn.Found, err = s.lookup(ctx); err != nil {
		return at, err
	}
	at.turn.Plan = s.target.Decide(at.turn.Found, dec.deployment)
	if at.turn.Plan.Writes() {
		if outdated, err := s.isOutdated(ctx, dec, at.turn.Found); err != nil || outdated {
			return at, cmp.Or(err, changedMeanwhile(s.id))
		}
	}
	at.turn.Kept = dec.kept && at.turn.Plan == deploy.Install && s.target.OnlyPodMissing(at.turn.Found, dec.deployment)
	if at.turn.Plan == deploy.Install && release.RefusedSince(dec.found.Record, at.turn.Found.Record) {
		return s.refusedBefore(dec, at)
	}
	return at, err
}

// refusedBefore is the failure that the record reports, and whose job it was.
func (s session) refusedBefore(dec decision, at progress) (progress, error) {
	about, found := dec.deployment.About, at.turn.Found
	pod, reading := (&inventory.Target{ID: s.id, Namespace: s.Client.Namespace, Found: found}).Podless()
	reading = about.Explain(reading)
	s.steps.Reached(reading)
	at = progress{turn: at.turn, found: found, reading: reading, job: cmp.Or(pod.Labels[kube.LabelJobID], s.jobID)}
	return at, about.Failure(reading, s.Policy)
}

// leaveTo ends a run that does not wait while another one provisions the workspace.
// It reports how the workspace is doing, and their job.
func (s session) leaveTo(ctx context.Context, dec decision, at progress, holder *lock.Observed) (progress, error) {
	s.steps.Note("%s is already provisioning it", holder.Holder.Human())
	found, err := s.lookup(ctx)
	if err != nil {
		return at, err
	}
	plan := s.target.Decide(found, dec.deployment)
	return progress{
		turn: at.turn, leave: true,
		found: found, reading: found.Reading, pod: found.Pod, job: holderJob(found, plan, holder),
	}, nil
}

// waitFor follows the work of the holder of the lock until it is free, and takes
// it for whatever is left to do.
func (s session) waitFor(ctx context.Context, dec decision, at progress, locker lock.Locker,
	holder *lock.Observed,
) (progress, error) {
	s.steps.Note("%s is already working on it%s; following", holder.Holder.Human(), deploy.For(holder))
	about, waited := dec.deployment.About, make(chan error, 1)
	watching, stop := context.WithCancel(ctx)
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		defer stop()
		var err error
		if at.turn.Lock, err = locker.Wait(waiting, s.id, holder, nil); err != nil && ctx.Err() == nil &&
			waiting.Err() != nil {
			err = context.Cause(waiting)
		}
		waited <- err
	}()
	var failed *v1.Snapshot // the newest failure; the pod may have been removed since
	if dec.deployment.OwnPod {
		_ = at.turn.Follower.Run(watching, s.Policy.Waiting(s.Now()), s.Now, func(c follow.Change) (done bool) {
			reading := s.steps.Changed(c, about)
			switch at.reading = reading; reading.Verdict() {
			case v1.VerdictFailed:
				failed = &reading
			case v1.VerdictStuck:
				giveUp(about.Failure(reading, s.Policy))
				return true
			}
			return false
		})
	}
	err := <-waited
	if at.pod = podOf(at.turn.Follower); at.pod != nil {
		at.job = at.pod.Labels[kube.LabelJobID]
	}
	if err != nil {
		return at, err
	}
	at, err = s.lookAgain(ctx, dec, at)
	if err != nil || holder.Purpose != deploy.ForProvisioning {
		return at, err
	}
	reading, left, over := sameOutcome(at.turn, failed)
	if !over {
		return at, nil
	}
	at.found, at.reading, at.left = at.turn.Found, about.Explain(reading), left
	return at, about.Failure(reading, s.Policy)
}

// sameOutcome says whether a run ends as the one that it has waited for: the workspace
// failed and still exists, or failed and was removed by --on-failure delete.
func sameOutcome(turn deploy.Turn, failed *v1.Snapshot) (reading v1.Snapshot, left v1.Left, over bool) {
	found := turn.Found
	switch {
	case turn.Plan == deploy.Replace && found.Reading.Verdict() == v1.VerdictFailed:
		return found.Reading, "", true
	case failed != nil && found.Record == nil && (turn.Plan == deploy.Create || turn.Plan == deploy.Await):
		return *failed, v1.LeftDeleted, true
	}
	return reading, "", false
}

// podOf is the pod as the watches know it; nil if they do not.
func podOf(follower *follow.Follower) *corev1.Pod {
	pod, _ := follower.State().Pod()
	return pod
}
