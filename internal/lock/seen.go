package lock

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
)

// IsOverdue says of a lease that was read once whether it should have been renewed.
// The clocks of two hosts may differ by as much as a lock lasts.
func IsOverdue(lease *coordinationv1.Lease, now time.Time) bool {
	renewed := lease.Spec.RenewTime
	return renewed == nil || now.Sub(renewed.Time) > 2*Duration
}

// silence is how old a lease is that nobody renews any more, no matter whose clock is wrong: it is
// read once, and says what is told to people.
const silence = 6 * Duration

// JobOf is the job that a lease was taken for, no matter who holds it now.
func JobOf(lease *coordinationv1.Lease) string { return lease.Annotations[annotationJob] }

// JobInUse is the job that the holder of a lease works on; empty if it is for none, is known
// to be dead, or has not renewed the lease for long. Nothing is taken from the holder by that:
// Try decides with more care.
func JobInUse(lease *coordinationv1.Lease, self Holder, now time.Time) string {
	renewed := lease.Spec.RenewTime
	if renewed == nil || now.Sub(renewed.Time) > silence || parseHolder(identityIn(lease)).isDead(self) {
		return ""
	}
	return JobOf(lease)
}
