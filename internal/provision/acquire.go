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

// acquired is what waiting for the lock has come to.
type acquired struct {
	turn  deploy.Turn
	seen  ending // how far the workspace got, if the run ends here
	leave bool   // the run ends without an error: another one does the work
}

// acquire takes the lock, in a namespace that it creates if that is wanted.
func (s provisioning) acquire(ctx context.Context, in inputs) (acquired, error) {
	a, err := s.tryAcquire(ctx, in)
	if !s.CreateNamespace || !kube.IsNamespaceMissing(err) {
		return a, err
	}
	if err := s.createNamespace(ctx); err != nil {
		return acquired{}, err
	}
	return s.tryAcquire(ctx, in)
}

// tryAcquire takes the lock while the watches open. While another run provisions
// the workspace, that is followed.
func (s provisioning) tryAcquire(ctx context.Context, in inputs) (acquired, error) {
	a := acquired{turn: deploy.Turn{Found: in.found, Plan: in.plan}, seen: ending{found: in.found, job: s.jobID}}
	opened := make(chan error, 1)
	go func() {
		var err error
		a.turn.Follower, err = s.target.Watch(ctx, in.found, in.deployment)
		opened <- err
	}()
	locker := deploy.Locker(s.Reader, deploy.ForProvisioning)
	locker.Job = s.jobID
	held, holder, err := locker.Try(ctx, s.id, nil)
	if watchErr := <-opened; err == nil {
		err = watchErr
	}
	a.turn.Lock = held
	switch {
	case err != nil:
		return a, err
	case held != nil && in.plan == deploy.Create:
		return a, nil // creating the record finds out whether still nothing is there
	case held != nil && in.kept && held.Created() && s.Intent == nil:
		a.turn.Kept = true // writing the record finds out whether it was changed; an intent writes none
		return a, nil
	case held != nil:
		if a, err = s.lookAgain(ctx, in, a); err == nil && s.Intent != nil && a.turn.Plan == deploy.Refuse {
			err = s.state().Superseded() // the command that recorded it has started it
		}
		return a, err
	case s.Intent != nil: // the holder has recorded what is wanted, or will be asked again
	case holder.Purpose == deploy.ForProvisioning && s.NoWait:
		return s.leaveTo(ctx, in, a, holder)
	case holder.Purpose == deploy.ForProvisioning, s.WaitForLock:
		return s.waitFor(ctx, in, a, locker, holder)
	}
	if a.turn.Lock, err = s.expire(ctx, locker, holder); err != nil {
		return a, err
	}
	return s.lookAgain(ctx, in, a)
}

// expire takes a lock that should have been renewed, unless its holder
// comes back within the time that the lock lasts.
func (s session) expire(ctx context.Context, locker lock.Locker, holder *lock.Observed) (*lock.Lock, error) {
	if !holder.Overdue {
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
func (s provisioning) lookAgain(ctx context.Context, in inputs, a acquired) (acquired, error) {
	var err error
	if a.turn.Found, err = s.lookup(ctx); err != nil {
		return a, err
	}
	a.turn.Plan = s.target.Decide(a.turn.Found, in.deployment)
	a.turn.Kept = in.kept && a.turn.Plan == deploy.Install && s.target.OnlyPodMissing(a.turn.Found, in.deployment)
	if a.turn.Plan == deploy.Install && release.RefusedSince(in.found.Record, a.turn.Found.Record) {
		a.seen, err = s.refusedBefore(in.deployment, a.turn.Found)
	}
	return a, err
}

// refusedBefore is the failure that the record reports, and whose job it was.
func (s provisioning) refusedBefore(d deploy.Deployment, found inventory.Found) (ending, error) {
	pod, reading := (&inventory.Target{ID: s.id, Namespace: s.Client.Namespace, Found: found}).Podless()
	reading = d.About.Explain(reading)
	s.steps.Reached(reading)
	end := ending{found: found, reading: reading, job: cmp.Or(pod.Labels[kube.LabelJobID], s.jobID)}
	return end, d.About.Failure(reading, s.Policy)
}

// leaveTo ends a run that does not wait while another one provisions the workspace.
// It reports how the workspace is doing, and their job.
func (s provisioning) leaveTo(ctx context.Context, in inputs, a acquired, holder *lock.Observed) (acquired, error) {
	s.steps.Note("%s is already provisioning it", holder.Holder.Human())
	found, err := s.lookup(ctx)
	if err != nil {
		return a, err
	}
	plan := s.target.Decide(found, in.deployment)
	a.seen = ending{found: found, reading: found.Reading, pod: found.Pod, job: holderJob(found, plan, holder)}
	a.leave = true
	return a, nil
}

// waitFor follows the work of the holder of the lock until it is free, and takes
// it for whatever is left to do.
func (s provisioning) waitFor(ctx context.Context, in inputs, a acquired, locker lock.Locker,
	holder *lock.Observed,
) (acquired, error) {
	s.steps.Note("%s is already working on it (%s); following", holder.Holder.Human(), holder.Purpose)
	about, waited := in.deployment.About, make(chan error, 1)
	watching, stop := context.WithCancel(ctx)
	waiting, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	go func() {
		defer stop()
		var err error
		if a.turn.Lock, err = locker.Wait(waiting, s.id, holder, nil); err != nil && ctx.Err() == nil &&
			waiting.Err() != nil {
			err = context.Cause(waiting)
		}
		waited <- err
	}()
	var failed *v1.Snapshot // the newest failure; the pod may have been removed since
	if in.deployment.OwnPod {
		_ = a.turn.Follower.Run(watching, s.Policy.Waiting(s.Now()), s.Now, func(c follow.Change) (done bool) {
			reading := s.steps.Changed(c, about)
			switch a.seen.reading = reading; reading.Verdict() {
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
	if a.seen.pod = podOf(a.turn.Follower); a.seen.pod != nil {
		a.seen.job = a.seen.pod.Labels[kube.LabelJobID]
	}
	if err != nil {
		return a, err
	}
	a, err = s.lookAgain(ctx, in, a)
	if err != nil || holder.Purpose != deploy.ForProvisioning {
		return a, err
	}
	reading, left, over := sameOutcome(a.turn, failed)
	if !over {
		return a, nil
	}
	a.seen.found, a.seen.reading, a.seen.left = a.turn.Found, about.Explain(reading), left
	return a, about.Failure(reading, s.Policy)
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
