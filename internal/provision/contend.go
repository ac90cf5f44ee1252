package provision

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/watch/follow"
)

// retryLock is how often a lock that somebody holds is asked for again.
const retryLock = 500 * time.Millisecond

// releaseTime is how long giving the lock back may take, also when the run was
// interrupted.
const releaseTime = 2 * time.Second

// acquire takes the lock, with the watches opening beside it. While somebody
// else holds it their work is followed. No lock and no error means that they
// brought the workspace up.
func (r *run) acquire(ctx context.Context, p plan) (*lock.Lock, plan, error) {
	opened := make(chan error, 1)
	go func() { opened <- r.open(ctx) }()
	locker := r.locker(provisioning)
	locker.Job = r.jobID
	held, holder, err := locker.Try(ctx, r.id, nil)
	if openErr := <-opened; err == nil {
		err = openErr
	}
	switch {
	case err != nil:
		if held != nil {
			r.release(ctx, held)
		}
		return nil, p, err
	case held == nil && holder.Purpose != provisioning && !r.WaitForLock:
		if held, err = r.expire(ctx, locker, holder); err != nil {
			return nil, p, err
		}
		return r.lookAgain(ctx, held)
	case held == nil && r.NoWait && holder.Purpose == provisioning:
		return nil, p, r.leaveTo(ctx, holder)
	case held == nil:
		return r.followHolder(ctx, locker, holder)
	case p == install && r.found.Record == nil && r.found.Workload == nil:
		return held, p, nil // making the record finds out whether that is still so
	default:
		return r.lookAgain(ctx, held)
	}
}

// leaveTo ends a run that does not wait: somebody else is at it. It is told how
// the workspace stands by now, and by whose job.
func (r *run) leaveTo(ctx context.Context, holder *lock.Observed) error {
	r.steps.Progress(v1.Progress{Message: fmt.Sprintf("%s is at it already (%s)", holder.Holder.Human(), holder.Purpose)})
	var err error
	if r.found, err = r.survey(ctx); err != nil {
		return err
	}
	r.latest = r.found.Reading
	w := r.workspace()
	w.JobID = jobAtWork(r.found, r.decide(), holder)
	r.final = &Outcome{Workspace: w}
	return nil
}

// lookAgain decides anew with the lock in hand: what was found before it may
// be somebody's work in progress.
func (r *run) lookAgain(ctx context.Context, held *lock.Lock) (*lock.Lock, plan, error) {
	p, err := r.surveyAgain(ctx)
	if err != nil {
		r.release(ctx, held)
		return nil, p, err
	}
	if p != refuse {
		return held, p, nil
	}
	// It was not running when this run began, so somebody brought it up meanwhile.
	r.release(ctx, held)
	if err := r.expectFound(); err != nil {
		return nil, p, err
	}
	return nil, p, r.follow(ctx)
}

// surveyAgain decides anew. What the cluster has refused to somebody since the
// lookup, it refuses to this run as well: it ends the same.
func (r *run) surveyAgain(ctx context.Context) (plan, error) {
	before := r.found.Record
	var err error
	if r.found, err = r.survey(ctx); err != nil {
		return "", err
	}
	p := r.decide()
	if p == install && refusedSince(before, r.found.Record) {
		return p, r.refusedToo()
	}
	return p, nil
}

// followHolder follows the work of whoever holds the lock until it is free,
// and then takes it and whatever is left to do.
func (r *run) followHolder(ctx context.Context, locker lock.Locker, holder *lock.Observed) (*lock.Lock, plan, error) {
	r.steps.Progress(v1.Progress{Message: fmt.Sprintf("%s is at it already (%s); following", holder.Holder.Human(), holder.Purpose)})
	watching, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	var failed *v1.Snapshot // as it was seen, though it may have been removed since
	go func() {
		defer close(watched)
		if r.found.Workload != nil {
			return // one that they have not patched yet runs as it always did
		}
		_ = r.follower.Run(watching, r.Policy, r.Now, func(c follow.Change) bool {
			r.tell(c)
			if r.latest.Verdict() == v1.VerdictFailed {
				seen := r.latest
				failed = &seen
			}
			return false
		})
	}()
	held, err := retry(ctx, locker, r.id, holder, follows)
	stop()
	<-watched
	if err != nil {
		return nil, "", err
	}
	seen := r.latest
	held, p, err := r.lookAgain(ctx, held)
	if r.found.Workload != nil {
		r.latest, seen = r.found.Reading, r.found.Reading
	}
	if held != nil && p == replace && seen.Verdict() == v1.VerdictFailed {
		// They saw it fail, and so did this run: it ends the same.
		r.release(ctx, held)
		return nil, p, r.failure(seen)
	}
	if held != nil && failed != nil && r.found.Record == nil && (p == install || p == await) {
		// They also removed it, by --on-failure delete.
		r.release(ctx, held)
		r.latest = *failed
		w := r.workspace()
		r.final = &Outcome{Workspace: w, Left: v1.LeftDeleted}
		return nil, p, r.failure(*failed)
	}
	return held, p, err
}

// expire takes a lock that should have been renewed by now, unless its holder
// comes back within the time that the lock lasts.
func (r *run) expire(ctx context.Context, locker lock.Locker, holder *lock.Observed) (*lock.Lock, error) {
	if !holder.Overdue {
		return nil, busy(r.id, holder)
	}
	r.steps.Progress(v1.Progress{Message: holder.Holder.Human() + " seems to be gone; waiting for their lock to expire"})
	return retry(ctx, locker, r.id, holder, func(seen *lock.Observed) error {
		if seen != holder {
			return busy(r.id, seen)
		}
		return nil
	})
}

// follows goes on waiting, whoever holds the lock by now.
func follows(*lock.Observed) error { return nil }

// retry asks for a lock again and again, also over a moment in which the API
// server cannot be reached, until it is free or goOn says otherwise.
func retry(ctx context.Context, locker lock.Locker, id string, holder *lock.Observed, goOn func(*lock.Observed) error) (*lock.Lock, error) {
	ticker := time.NewTicker(retryLock)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
		held, seen, err := locker.Try(ctx, id, holder)
		if held != nil || err != nil && fault.CodeOf(err) != fault.Unavailable {
			return held, err
		}
		if seen == nil {
			continue
		}
		if err := goOn(seen); err != nil {
			return nil, err
		}
		holder = seen
	}
}

// release gives the lock back, also after an interruption.
func (r *run) release(ctx context.Context, held *lock.Lock) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	held.Release(ctx)
}
