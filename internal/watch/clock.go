package watch

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// clock is the time of a reading, and when another may say something else.
type clock struct{ now, next time.Time }

// askAt asks for another reading at a time; the earliest counts. Zero is never.
func (c *clock) askAt(t time.Time) {
	if c.next.IsZero() || !t.IsZero() && t.Before(c.next) {
		c.next = t
	}
}

// waits is true before a time, and asks for another reading then.
func (c *clock) waits(until time.Time) bool {
	if !c.now.Before(until) {
		return false
	}
	c.askAt(until)
	return true
}

// recent is true for what a stage waits for while it has not lasted: most of
// that passes within moments, such as a volume that is still being provisioned. What
// begins in the future shows that the clock is late: it may have lasted.
func (c *clock) recent(begun time.Time, p cause.Policy) bool {
	return !c.now.Before(begun) && c.waits(begun.Add(p.CauseDelay))
}

// stuck says whether what has been stuck since a time, zero for what is not, is to be
// reported as such, and whether it has been waited for long enough.
func (c *clock) stuck(since time.Time, p cause.Policy) (reported, givenUp bool) {
	if since.IsZero() || p.WaitingSince.IsZero() {
		return false, false
	}
	since = evidence.Later(since, p.WaitingSince)
	givenUp = p.StuckAfter > 0 && !c.waits(since.Add(p.StuckAfter))
	return givenUp || !c.waits(since.Add(p.StuckDelay)), givenUp
}

// correct is for a clock that is behind the cluster's: the time is that of the
// newest object at least. How long a cause has lasted is not known then, so that
// no cause is tentative.
func (s State) correct(p cause.Policy, now time.Time) (cause.Policy, time.Time) {
	if newest := s.Newest(); now.Before(newest) {
		p.CauseDelay, now = 0, newest
	}
	return p, now
}

// Newest is the newest time that the objects have: nothing is seen before it
// happens, so it is not later than now by the cluster's clock.
func (s State) Newest() (newest time.Time) {
	for _, o := range s.objects {
		newest = evidence.Later(newest, o.GetCreationTimestamp().Time)
		for _, written := range o.GetManagedFields() {
			if written.Time != nil {
				newest = evidence.Later(newest, written.Time.Time)
			}
		}
		switch o := o.(type) {
		case *corev1.Event:
			newest = evidence.Later(newest, evidence.LastSeen(o))
		case *coordinationv1.Lease:
			if o.Spec.RenewTime != nil {
				newest = evidence.Later(newest, o.Spec.RenewTime.Time)
			}
		case *corev1.Pod:
			for i := range o.Status.Conditions {
				newest = evidence.Later(newest, o.Status.Conditions[i].LastTransitionTime.Time)
			}
		}
	}
	return newest
}
