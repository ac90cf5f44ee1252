// Package lock is the lock that a command holds on a workspace while it works: a
// Lease of ten seconds in the workspace's namespace, which is renewed.
package lock

import (
	"context"
	"encoding/json"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Duration is how long a lock outlives its last renewal.
const Duration = 10 * time.Second

// stale is the age at which a lock is believed to be abandoned by the clock
// alone. Clocks of two hosts may differ; by this much they do not.
const stale = 5 * time.Minute

const (
	annotationPurpose = "berth.dev/purpose"
	annotationJob     = "berth.dev/job-id"
)

// Locker takes locks in one namespace.
type Locker struct {
	Leases    coordination.LeaseInterface
	Namespace string
	Self      Holder
	Purpose   string // what the lock is taken for: a verb
	Job       string // the job that it is taken for; empty for none
	Now       func() time.Time
	// Beside takes k8shell's lock on the workspace, too: the second one, and never without the first.
	Beside bool
}

// Observed is a lock that another process holds, as it was when first seen: what
// Try needs to tell a holder that renews it from one that does not.
type Observed struct {
	Holder  Holder
	Purpose string
	Job     string // empty if it is not known
	// Overdue is true if by the clock the lock should have been renewed: it may soon be free.
	Overdue bool
	spec    string // every renewal changes it
	at      time.Time
	theirs  bool // it is k8shell's lock
}

// Try takes the lock on id if it is free, expired, or its holder is known to be dead. Otherwise it returns who holds
// it; given back at the next try, that lets a lock expire by the local clock alone: two hosts' clocks need not agree.
func (l Locker) Try(ctx context.Context, id string, before *Observed) (*Lock, *Observed, error) {
	if !l.Beside {
		return l.try(ctx, id, before, maxTries)
	}
	if before != nil && before.theirs { // as long as it is held, the first lock is left alone
		if seen, err := l.seeTheirs(ctx, id, before); seen != nil || err != nil {
			return nil, seen, err
		}
	}
	held, seen, err := l.try(ctx, id, before, maxTries)
	if held == nil {
		return nil, seen, err
	}
	if seen, err = held.takeTheirs(ctx, before); seen != nil || err != nil {
		held.Release(ctx)
		return nil, seen, err
	}
	return held, nil, nil
}

// maxTries is how often a lock is tried at once that others take and release at the same moment.
const maxTries = 5

func (l Locker) try(ctx context.Context, id string, before *Observed, left int) (*Lock, *Observed, error) {
	if left == 0 {
		return nil, nil, fault.New(fault.Unavailable,
			"the lease %s in namespace %s cannot be taken: it is there and then it is not, or it changes each time",
			name(id), l.Namespace).
			WithHint("look at it with `kubectl get lease %s --namespace %s --output yaml`, and try again", name(id),
				l.Namespace)
	}
	lease, err := l.Leases.Create(ctx, l.lease(id), metav1.CreateOptions{})
	if err == nil {
		held := l.hold(id, lease)
		held.created = true
		return held, nil, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, nil, kube.Fault(err, l.call("create", id))
	}
	current, err := l.Leases.Get(ctx, name(id), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return l.try(ctx, id, nil, left-1)
	}
	if err != nil {
		return nil, nil, kube.Fault(err, l.call("get", id))
	}
	seen := l.observe(current, before)
	if !l.isFree(current, seen) {
		return nil, seen, nil
	}
	wanted := l.lease(id)
	current.Spec, current.Annotations = wanted.Spec, wanted.Annotations
	lease, err = l.Leases.Update(ctx, current, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return l.try(ctx, id, nil, left-1) // another process was faster, or it was released
	}
	if err != nil {
		return nil, nil, kube.Fault(err, l.call("update", id))
	}
	return l.hold(id, lease), nil, nil
}

// retryEvery is how often Wait tries to take the lock.
const retryEvery = 500 * time.Millisecond

// Wait takes the lock once it is free, also after a moment in which the API server
// could not be reached. It ends with an error that giveUp, if set, returns.
func (l Locker) Wait(ctx context.Context, id string, holder *Observed, giveUp func(*Observed) error) (held *Lock,
	err error,
) {
	err = wait.PollUntilContextCancel(ctx, retryEvery, false, func(ctx context.Context) (done bool, err error) {
		var seen *Observed
		held, seen, err = l.Try(ctx, id, holder)
		switch {
		case held != nil || err != nil && fault.CodeOf(err) != fault.Unavailable:
			return true, err
		case seen == nil:
			return false, nil
		}
		if holder = seen; giveUp == nil {
			return false, nil
		}
		return false, giveUp(seen)
	})
	return held, err
}

// Sweep removes the lock of a workspace that is gone, unless it is held.
func (l Locker) Sweep(ctx context.Context, id string) {
	if l.Beside {
		l.deleteStale(ctx, id)
	}
	lease, err := l.Leases.Get(ctx, name(id), metav1.GetOptions{})
	if err != nil || !l.isFree(lease, l.observe(lease, nil)) {
		return
	}
	l.remove(ctx, lease)
}

// remove deletes a lease as it was read, and no newer one of another holder. If it fails the lease expires by itself.
func (l Locker) remove(ctx context.Context, lease *coordinationv1.Lease) {
	_ = l.Leases.Delete(ctx, lease.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &lease.UID, ResourceVersion: &lease.ResourceVersion},
	})
}

func (l Locker) observe(lease *coordinationv1.Lease, before *Observed) *Observed {
	spec, _ := json.Marshal(lease.Spec) // a value of plain fields: cannot fail
	if before != nil && before.spec == string(spec) {
		return before
	}
	seen := &Observed{
		Purpose: fault.Shorten(lease.Annotations[annotationPurpose], maxText),
		Job:     fault.Shorten(lease.Annotations[annotationJob], maxText),
		spec:    string(spec), at: l.Now(),
	}
	if renewed := lease.Spec.RenewTime; renewed != nil {
		seen.Overdue = l.Now().Sub(renewed.Time) > Duration
	}
	seen.Holder = parseHolder(identityIn(lease))
	return seen
}

// maxText is how much is kept of what a lease says about its holder, in bytes: it is shown to people.
const maxText = 128

// identityIn is the holder of a lease as it is written there; empty for none.
func identityIn(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// isFree decides whether a lock may be taken from its holder.
func (l Locker) isFree(lease *coordinationv1.Lease, seen *Observed) bool {
	now, renewed := l.Now(), lease.Spec.RenewTime
	return identityIn(lease) == "" || seen.Holder.isDead(l.Self) ||
		now.Sub(seen.at) > Duration || renewed == nil || now.Sub(renewed.Time) > stale
}

func (l Locker) lease(id string) *coordinationv1.Lease {
	annotations := map[string]string{annotationPurpose: l.Purpose}
	if l.Job != "" {
		annotations[annotationJob] = l.Job
	}
	identity, seconds, now := l.Self.String(), int32(Duration/time.Second), metav1.NewMicroTime(l.Now())
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: name(id), Namespace: l.Namespace,
			Labels:      map[string]string{kube.LabelCanonicalID: kube.LabelValue(id)},
			Annotations: annotations,
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &identity, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now,
		},
	}
}

func (l Locker) call(verb, id string) kube.Call {
	return kube.Call{Verb: verb, Resource: "leases.coordination.k8s.io", Namespace: l.Namespace, Name: name(id)}
}

func name(id string) string { return kube.Name("berth", id) }
