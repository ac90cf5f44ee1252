package provision

import (
	"context"
	"fmt"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
)

// OnFailure says what becomes of what a provisioning created that failed or timed
// out.
type OnFailure string

// What can become of it. The default is to keep it, so that it can be examined.
const (
	KeepOnFailure   OnFailure = "keep"
	DeleteOnFailure OnFailure = "delete"
)

// undoTime is how long removing what was created may take. Its pod, which may
// have a grace period, is waited for within that.
const undoTime = 60 * time.Second

// cleansUp says whether what was created is removed. An interruption keeps it, and so does
// what is not waited for any longer. What is in the way of the owner of storage with the same
// ID goes in any case.
func (p *Provisioner) cleansUp(e ending, err error) bool {
	code := fault.CodeOf(err)
	switch fault.ReasonOf(err) {
	case deploy.ReasonStorageOfAnother:
		return e.result.Changes.Any()
	case deploy.ReasonStuck:
		return false
	}
	return (code == fault.Failed || code == fault.DeadlineExceeded) && p.OnFailure == DeleteOnFailure &&
		e.result.Changes.Any()
}

// cleanUpOnFailure removes what this run created, while it still holds the lock.
// What there is to say about the failure is collected before.
func (s provisioning) cleanUpOnFailure(ctx context.Context, in inputs, turn deploy.Turn, e ending,
	failure error,
) (Outcome, error) {
	o := s.outcome(ctx, in, e, failure)
	o.Left = v1.LeftDeleted
	err := s.steps.Do("remove", func() (string, error) { return s.undo(ctx, in, turn, e.result) })
	switch {
	case err != nil:
		o.Left, o.Problems = v1.LeftKept, []string{err.Error()}
	case !in.found.Exists(): // nothing is to be there
		s.deleteStaleRecord(context.WithoutCancel(ctx), s.id)
	}
	return o, failure
}

// withdrawTime is how long a run that has lost its lock cleans up.
const withdrawTime = 10 * time.Second

// withdraw removes what a run created before it lost the lock, as far as nobody else
// has taken it up. What cannot be removed is found by the next run.
func (s provisioning) withdraw(ctx context.Context, d deploy.Deployment, turn deploy.Turn, result deploy.Result) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTime)
	defer cancel()
	if err := s.target.Withdraw(ctx, turn, d, result); err != nil {
		s.steps.Warn("NotWithdrawn", "", "something that this run has created may be left: "+err.Error())
	}
}

// undo removes what this run created. The time-out that may have ended the run
// does not count for it, nor does an interruption: a second one exits at once.
func (s provisioning) undo(ctx context.Context, in inputs, turn deploy.Turn, result deploy.Result) (string, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	ctx, release := turn.Lock.Context(ctx)
	defer release()
	if err := turn.Lock.Confirm(ctx); err != nil {
		return "", fmt.Errorf("what was created was not removed: %w", err)
	}
	return s.target.Undo(ctx, turn, in.deployment, result)
}
