package lock

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// What k8shell's provisioner holds while it works on a workspace: a Lease with a name of its own, which is taken over
// once it has expired, and deleted when it is given back. docs/design/k8shell.md says how the two locks go together.
const (
	theirPrefix   = "workspace-lease-"
	theirHolder   = "provisioner-"
	theirDuration = 30 * time.Second
)

// annotationHolder says which process of berth has written a holder of theirs, that one and the process.
const annotationHolder = "berth.dev/holder"

// theirs is k8shell's lock, held beside berth's own. Whoever has the turn of that uses it.
type theirs struct {
	lease   *coordinationv1.Lease
	renewed time.Time // by the wall clock
}

func theirName(id string) string { return theirPrefix + id }

// takeTheirs takes k8shell's lock, under berth's own: no other command of berth wants it meanwhile. It returns its
// holder, or nothing if it is taken.
func (h *Lock) takeTheirs(ctx context.Context, before *Observed) (*Observed, error) {
	l := h.locker
	for range maxTries {
		lease, err := l.Leases.Create(ctx, l.theirLease(h.id), metav1.CreateOptions{})
		if err == nil {
			return nil, h.keepTheirs(ctx, lease)
		}
		if !apierrors.IsAlreadyExists(err) {
			return nil, kube.Fault(err, l.theirCall("create", h.id))
		}
		lease, err = l.Leases.Get(ctx, theirName(h.id), metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue // it was given back
		}
		if err != nil {
			return nil, kube.Fault(err, l.theirCall("get", h.id))
		}
		seen := l.observeTheirs(lease, before)
		if !l.isTheirsFree(lease, seen) {
			return seen, nil
		}
		wanted := l.theirLease(h.id)
		lease.Spec, lease.Annotations = wanted.Spec, wanted.Annotations
		lease, err = l.Leases.Update(ctx, lease, metav1.UpdateOptions{})
		if err == nil {
			return nil, h.keepTheirs(ctx, lease)
		}
		if !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) {
			return nil, kube.Fault(err, l.theirCall("update", h.id))
		}
	}
	return nil, fault.New(fault.Unavailable,
		"the lease %s in namespace %s cannot be taken: it changes each time", theirName(h.id), l.Namespace).
		WithHint("look at it with `kubectl get lease %s --namespace %s --output yaml`, and try again", theirName(h.id),
			l.Namespace)
}

// keepTheirs has the lock renewed with berth's own, which may have been renewed meanwhile or be lost.
func (h *Lock) keepTheirs(ctx context.Context, lease *coordinationv1.Lease) error {
	select {
	case <-h.turn:
		h.theirs = &theirs{lease: lease, renewed: h.locker.Now().Round(0)}
		h.turn <- struct{}{}
		return nil
	case <-ctx.Done():
		h.locker.remove(context.WithoutCancel(ctx), lease)
		return context.Cause(ctx)
	}
}

// renewTheirs renews it where a third of its time is over. It takes the turn.
func (h *Lock) renewTheirs(ctx context.Context) error {
	if h.theirs == nil || h.locker.Now().Round(0).Sub(h.theirs.renewed) < theirDuration/3 {
		return nil
	}
	next := h.theirs.lease.DeepCopy()
	now := metav1.NewMicroTime(h.locker.Now())
	next.Spec.RenewTime = &now
	lease, err := h.locker.Leases.Update(ctx, next, metav1.UpdateOptions{})
	if apierrors.IsConflict(err) { // an earlier renewal arrived, and its answer was lost; or it is another's
		lease, err = h.locker.Leases.Get(ctx, next.Name, metav1.GetOptions{})
		if err == nil && identityIn(lease) != identityIn(next) {
			return TakenBy(Token{Holder: holderOfTheirs(lease).Human()})
		}
	}
	if apierrors.IsNotFound(err) {
		return ErrTaken
	}
	if err != nil {
		return err
	}
	h.theirs.lease, h.theirs.renewed = lease, now.Round(0)
	return nil
}

// seeTheirs is who holds k8shell's lock; nil if it is free.
func (l Locker) seeTheirs(ctx context.Context, id string, before *Observed) (*Observed, error) {
	lease, err := l.Leases.Get(ctx, theirName(id), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, kube.Fault(err, l.theirCall("get", id))
	}
	if seen := l.observeTheirs(lease, before); !l.isTheirsFree(lease, seen) {
		return seen, nil
	}
	return nil, nil
}

func (l Locker) observeTheirs(lease *coordinationv1.Lease, before *Observed) *Observed {
	spec, _ := json.Marshal(lease.Spec) // a value of plain fields: cannot fail
	if before != nil && before.theirs && before.spec == string(spec) {
		return before
	}
	seen := &Observed{Holder: holderOfTheirs(lease), spec: string(spec), at: l.Now(), theirs: true}
	if renewed := lastRenewed(lease); renewed != nil {
		seen.Overdue = l.Now().Sub(renewed.Time) > theirDuration
	}
	return seen
}

// Expired is true for a lock of k8shell's that k8shell itself would take over: by the clock its time is up.
func (o *Observed) Expired() bool { return o.theirs && o.Overdue }

// lastRenewed is when a lease was renewed, or else acquired; nil if it does not say so.
func lastRenewed(lease *coordinationv1.Lease) *metav1.MicroTime {
	if lease.Spec.RenewTime != nil {
		return lease.Spec.RenewTime
	}
	return lease.Spec.AcquireTime
}

// isTheirsFree decides whether k8shell's lock may be taken from its holder: by the local clock, as with berth's own.
func (l Locker) isTheirsFree(lease *coordinationv1.Lease, seen *Observed) bool {
	now, renewed := l.Now(), lastRenewed(lease)
	return identityIn(lease) == "" || renewed == nil || seen.Holder.isDead(l.Self) ||
		now.Sub(seen.at) > theirDuration || now.Sub(renewed.Time) > stale
}

// holderOfTheirs is who holds it: a process of berth where this one has written the holder that is there now.
func holderOfTheirs(lease *coordinationv1.Lease) Holder {
	identity := identityIn(lease)
	if own, is := strings.CutPrefix(lease.Annotations[annotationHolder], identity+" "); is && identity != "" {
		return parseHolder(own)
	}
	return parseHolder(identity)
}

// deleteStale removes what a killed command has left of it, unless it is held.
func (l Locker) deleteStale(ctx context.Context, id string) {
	lease, err := l.Leases.Get(ctx, theirName(id), metav1.GetOptions{})
	if err == nil && l.isTheirsFree(lease, l.observeTheirs(lease, nil)) {
		l.remove(ctx, lease)
	}
}

func (l Locker) theirLease(id string) *coordinationv1.Lease {
	now := metav1.NewMicroTime(l.Now())
	identity, seconds := theirHolder+strconv.FormatInt(now.UnixNano(), 10), int32(theirDuration/time.Second)
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{
			Name: theirName(id), Namespace: l.Namespace,
			Annotations: map[string]string{annotationHolder: identity + " " + l.Self.String()},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &identity, LeaseDurationSeconds: &seconds, AcquireTime: &now, RenewTime: &now,
		},
	}
}

func (l Locker) theirCall(verb, id string) kube.Call {
	return kube.Call{
		Verb: verb, Resource: "leases.coordination.k8s.io", Namespace: l.Namespace, Name: theirName(id),
	}
}
