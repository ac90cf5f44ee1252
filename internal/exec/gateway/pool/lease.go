package pool

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The lease of a pool, by which ironcore knows that its poollet lives.
const (
	LeaseNamespace = "ironcore-machinepool-lease"
	leaseFor       = 40 * time.Second
	renewEvery     = 10 * time.Second
)

// seen is a lease as it was last, and since when it is so by this host's clock.
type seen struct {
	version string
	since   time.Time
}

// holder is the one that a lease is held by; empty if nobody does.
func holder(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// isFree says whether somebody else's lease may be taken: it is given back, or was not renewed for as long as it lasts.
func (s *seen) isFree(lease *coordinationv1.Lease, now time.Time) bool {
	if s.version != lease.ResourceVersion || s.since.IsZero() {
		s.version, s.since = lease.ResourceVersion, now
	}
	if holder(lease) == "" || lease.Spec.RenewTime == nil {
		return true
	}
	lasts := leaseFor
	if n := lease.Spec.LeaseDurationSeconds; n != nil && *n > 0 && *n <= 600 {
		lasts = time.Duration(*n) * time.Second
	}
	return now.Sub(s.since) > lasts // by this host's clock alone: that of the holder may differ
}

// held is a lease as identity holds it from now on.
func held(lease *coordinationv1.Lease, identity string, now time.Time) *coordinationv1.Lease {
	lease = lease.DeepCopy()
	stamp, seconds := metav1.NewMicroTime(now), int32(leaseFor/time.Second)
	if before := holder(lease); before != identity {
		lease.Spec.AcquireTime = &stamp
		if lease.ResourceVersion != "" {
			transitions := int32(1)
			if n := lease.Spec.LeaseTransitions; n != nil {
				transitions = *n + 1
			}
			lease.Spec.LeaseTransitions = &transitions
		}
	}
	lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.LeaseDurationSeconds = &identity, &stamp, &seconds
	return lease
}
