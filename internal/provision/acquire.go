package provision

import (
	"context"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/deploy"
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
	locker := s.locker(forProvisioning)
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
			err = s.superseded() // the command that recorded it has started it
		}
		return a, err
	case s.Intent != nil: // the holder has recorded what is wanted, or will be asked again
	case holder.Purpose == forProvisioning && s.NoWait:
		return s.leaveTo(ctx, in, a, holder)
	case holder.Purpose == forProvisioning, s.WaitForLock:
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
		return nil, busy(s.id, holder)
	}
	s.steps.Note("%s has not renewed the lock; waiting for it to expire", holder.Holder.Human())
	return locker.Wait(ctx, s.id, holder, func(seen *lock.Observed) error {
		if seen != holder {
			return busy(s.id, seen)
		}
		return nil
	})
}

// reasonLocked is the reason of the error of a workspace that somebody else works on.
const reasonLocked = "LOCKED"

// IsLocked is true for the error of a workspace that somebody else works on.
func IsLocked(err error) bool { return fault.ReasonOf(err) == reasonLocked }

func busy(id string, by *lock.Observed) error {
	return fault.New(fault.Conflict, "%s is working on workspace %s (%s)", by.Holder.Human(), id, by.Purpose).
		WithReason(reasonLocked).
		WithHint("try again when that is done, or pass --wait")
}

// The purposes of a lock.
const (
	forProvisioning = "provision"
	forDeleting     = "delete"
	forStopping     = "stop"
	forAdopting     = "adopt"
)

func (p *Provisioner) locker(purpose string) lock.Locker {
	return lock.Locker{
		Leases:    p.Client.CoordinationV1().Leases(p.Client.Namespace),
		Namespace: p.Client.Namespace, Self: lock.Self(), Purpose: purpose, Now: p.Now,
	}
}

// releaseTime is how long releasing the lock may take, also after an
// interruption.
const releaseTime = 2 * time.Second

// release gives the lock back, if there is one.
func (session) release(ctx context.Context, held *lock.Lock) {
	if held == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	held.Release(ctx)
}
