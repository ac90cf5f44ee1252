package apply

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// How often an object that is being deleted is looked at, and for how long.
const (
	deletionPoll = 200 * time.Millisecond
	deletionTime = 30 * time.Second
)

// apply creates one object, or brings it up to date. One of its name that is
// being deleted is waited for: a claim outlives the pod that used it by a moment. So is
// a kind that has just been established, as not every API server may serve it yet.
func (r *run) apply(ctx, waiting context.Context, it *item) error {
	if done, err := r.known(ctx, it); done {
		return r.deferred(it, err)
	}
	if done, err := r.expected(ctx, it); done {
		return r.deferred(it, err)
	}
	err := wait.PollUntilContextTimeout(waiting, deletionPoll, deletionTime, true,
		func(context.Context) (done bool, err error) {
			if err := r.confirm(ctx); err != nil {
				return true, err
			}
			made, err := it.api.Create(ctx, it.object,
				metav1.CreateOptions{FieldManager: kube.FieldManager, DryRun: r.DryRun.Options()})
			if apierrors.IsAlreadyExists(err) {
				it.change = &Change{Action: Unchanged, Object: it.object}
				return r.update(ctx, it)
			}
			if err == nil {
				it.change = &Change{Action: Created, Object: made, InPlaceOf: it.inPlaceOf}
			}
			if err = kube.Fault(err, it.call("create")); r.isNotServed(it, err) {
				it.notServed = err
				return false, nil
			}
			return true, err
		})
	return r.deferred(it, r.waited(waiting, it, err))
}

// expected brings an object up to date that is expected to be there. It is not done if there
// is none, or if it has to be waited for.
func (r *run) expected(ctx context.Context, it *item) (done bool, err error) {
	if !r.Kept || isKind(it.Object, kindPod) {
		return false, nil
	}
	if err := r.confirm(ctx); err != nil {
		return true, err
	}
	return r.update(ctx, it)
}

// waited is the error of an object that was waited for.
func (r *run) waited(waiting context.Context, it *item, err error) error {
	_, answered := errors.AsType[*fault.Error](err) // by a request, which may have timed out too
	switch {
	case !wait.Interrupted(err), answered, waiting.Err() != nil:
		return err
	case it.notServed != nil && it.change == nil:
		return it.notServed
	case it.isTerminating():
		return fault.New(fault.Conflict, "timed out waiting for deletion of %s", it.describe()).
			WithHint("see what holds it: %s", it.kubectlGet())
	}
	return fault.New(fault.Conflict, "%s is being changed by another client", it.describe()).WithHint("try again")
}

// isTerminating reports whether the object was being deleted when it was read last.
func (it *item) isTerminating() bool {
	return it.change != nil && it.change.Before != nil && it.change.Before.GetDeletionTimestamp() != nil
}

// isNotServed is true for the answer to the creation of a custom resource whose
// definition, which is in the set, is established, but is not served yet.
func (r *run) isNotServed(it *item, err error) bool {
	_, defined := r.defined[it.Object.GroupVersionKind()]
	return defined && r.DryRun == DryRunNone && apierrors.IsNotFound(err) && !kube.IsNamespaceMissing(err)
}
