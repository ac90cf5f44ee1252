package serve

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// longDead is the age at which a lease is believed to be abandoned by the clock alone.
// The clocks of two hosts may differ; by this much they do not.
const longDead = 5 * time.Minute

// Leader is who leads for a lease; empty if nobody does. Whether somebody who has not
// renewed it lately by this host's clock still does is found out by watching the lease
// for as long as it lasts.
func Leader(ctx context.Context, leases coordination.LeasesGetter, namespace, name string,
	now func() time.Time,
) (identity string, err error) {
	var first *coordinationv1.Lease
	begun := now()
	for {
		lease, err := leases.Leases(namespace).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		if err != nil {
			return "", kube.Fault(err, kube.Call{
				Verb: "get", Resource: "leases.coordination.k8s.io", Namespace: namespace,
				Name: name,
			})
		}
		if first == nil {
			first = lease
		}
		switch judge(first, lease, now(), now().Sub(begun)) {
		case leads:
			return fault.Line(*lease.Spec.HolderIdentity), nil
		case vacant:
			return "", nil
		}
		wait := time.NewTimer(retryEvery)
		select {
		case <-ctx.Done():
			wait.Stop()
			return "", context.Cause(ctx)
		case <-wait.C:
		}
	}
}

// verdict is what is known of a leader.
type verdict int

const (
	unsure verdict = iota
	leads
	vacant
)

// judge says whether the holder of a lease leads: as it was read first, as it is now,
// and how long after that.
func judge(first, lease *coordinationv1.Lease, now time.Time, watched time.Duration) verdict {
	holder, renewed := lease.Spec.HolderIdentity, lease.Spec.RenewTime
	if holder == nil || *holder == "" || renewed == nil {
		return vacant
	}
	lasts := leaseFor
	if seconds := lease.Spec.LeaseDurationSeconds; seconds != nil && *seconds > 0 && *seconds < 600 {
		lasts = time.Duration(*seconds) * time.Second
	}
	age := now.Sub(renewed.Time)
	switch {
	case age.Abs() < lasts, lease.ResourceVersion != first.ResourceVersion:
		return leads
	case age > longDead, watched > lasts:
		return vacant
	}
	return unsure
}
