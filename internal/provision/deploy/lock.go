package deploy

import (
	"context"
	"time"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lock"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
)

// The purposes of the lock of a workspace.
const (
	ForProvisioning = "provision"
	ForDeleting     = "delete"
	ForStopping     = "stop"
	ForAdopting     = "adopt"
)

// Locker takes the locks of the namespace's workspaces.
func Locker(r inventory.Reader, purpose string) lock.Locker {
	return lock.Locker{
		Leases:    r.Client.CoordinationV1().Leases(r.Client.Namespace),
		Namespace: r.Client.Namespace, Self: lock.Self(), Purpose: purpose, Now: r.Now,
		Beside: r.Scheme == userstring.K8shell,
	}
}

// reasonLocked is the reason of the error of a workspace that somebody else works on.
const reasonLocked = "LOCKED"

// IsLocked is true for the error of a workspace that somebody else works on.
func IsLocked(err error) bool { return fault.ReasonOf(err) == reasonLocked }

// Busy is that error.
func Busy(id string, by *lock.Observed) error {
	if by.Expired() {
		return fault.New(fault.Conflict, "%s has a lock on workspace %s that has expired", by.Holder.Human(), id).
			WithReason(reasonLocked).
			WithHint("pass --wait: it is taken over once it has not been renewed for 30 seconds")
	}
	return fault.New(fault.Conflict, "%s is working on workspace %s%s", by.Holder.Human(), id, For(by)).
		WithReason(reasonLocked).
		WithHint("try again when that is done, or pass --wait")
}

// For is what a lock is held for, in brackets; empty if its holder does not say.
func For(by *lock.Observed) string {
	if by.Purpose == "" {
		return ""
	}
	return " (" + by.Purpose + ")"
}

// releaseTime is how long releasing the lock may take, also after an
// interruption.
const releaseTime = 2 * time.Second

// Release gives the lock back, if there is one.
func Release(ctx context.Context, held *lock.Lock) {
	if held == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releaseTime)
	defer cancel()
	held.Release(ctx)
}
