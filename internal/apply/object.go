package apply

import (
	"context"
	"errors"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/berthdev/berth/internal/apply/fields"
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
				metav1.CreateOptions{
					FieldManager: kube.FieldManager, DryRun: r.DryRun.Options(), FieldValidation: r.fieldValidation(),
				})
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

// known brings an object up to date that the view has. It is not done if the
// view has no such object, or if the object has changed since.
func (r *run) known(ctx context.Context, it *item) (done bool, err error) {
	current := r.seen(it)
	if current == nil {
		return false, nil
	}
	if r.compare(current, it) == fields.Same {
		it.change = &Change{Action: Unchanged, Object: current, Before: current}
		return true, r.check(ctx, current)
	}
	if err := r.confirm(ctx); err != nil {
		return true, err
	}
	if preview, is := it.api.(*readOnly); is {
		preview.current = current
	}
	return r.bring(ctx, it, current)
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

// update brings an object that exists up to date. It is not done if the object is
// gone, is being deleted, or has been changed or made again since it was read.
func (r *run) update(ctx context.Context, it *item) (done bool, err error) {
	current, err := it.api.Get(ctx, it.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		it.change = nil
		return false, nil
	}
	if err != nil {
		return true, kube.Fault(err, it.call("get"))
	}
	return r.bring(ctx, it, current)
}

// bring is update for an object that has been read.
func (r *run) bring(ctx context.Context, it *item, current *unstructured.Unstructured) (done bool, err error) {
	it.change = &Change{Action: Unchanged, Object: current, Before: current}
	mine := r.Owner.Owns(current)
	switch {
	case r.Shared && (!mine || it.Merge == nil):
		return true, nil
	case !mine:
		return true, it.foreign(r.Owner)
	}
	if err := r.check(ctx, current); err != nil {
		return true, err
	}
	if r.Accept != nil && current.GetDeletionTimestamp() == nil {
		if err := r.Accept(current); err != nil {
			return true, err
		}
	}
	switch {
	case current.GetDeletionTimestamp() != nil && r.DryRun != DryRunNone:
		// Nothing can be checked while it is there, and a dry run does not wait.
		it.change = &Change{Action: Created, Object: it.object}
		return true, nil
	case current.GetDeletionTimestamp() != nil:
		return false, nil
	case isKind(current, kindPod, kindClaim), r.moves(ctx, it, current): // which cannot be changed in place
		return r.unchangeable(ctx, it, current)
	}
	wanted := it.object.DeepCopy()
	if r.Live != nil {
		it.drifted = r.compare(current, it) == fields.Drifted
		wanted = fields.Yield(current, wanted, kube.FieldManager)
	}
	if it.Merge != nil {
		if wanted, err = it.Merge(current, it.object); wanted == nil {
			return true, err
		}
	}
	if token := current.GetAnnotations()[kube.AnnotationLock]; token != "" &&
		r.Fence == nil { // a dry run, which says nothing of the lock
		kube.Annotate(wanted, kube.AnnotationLock, token)
	}
	return r.send(ctx, it, wanted)
}

// compare compares an object with what is wanted of it. One that is not the owner's, or that is being deleted, differs.
func (r *run) compare(current *unstructured.Unstructured, it *item) fields.Verdict {
	if !r.Owner.Owns(current) || current.GetDeletionTimestamp() != nil {
		return fields.Differs
	}
	return fields.Compare(current, fields.Yield(current, it.object, kube.FieldManager), kube.FieldManager)
}

// send applies wanted to the object that was read, and to no other version of it if
// wanted depends on what was read, or if another run may have written it since.
func (r *run) send(ctx context.Context, it *item, wanted *unstructured.Unstructured) (done bool, err error) {
	current, err := it.change.Before, error(nil)
	if !r.Kept {
		current, err = r.upgrade(ctx, it)
	}
	if isStale(err) {
		return false, nil
	}
	if err != nil {
		return true, kube.Fault(err, it.call("patch"))
	}
	wanted.SetUID(current.GetUID())
	if it.Merge != nil || r.Fence != nil {
		wanted.SetResourceVersion(current.GetResourceVersion())
	}
	options := metav1.ApplyOptions{
		FieldManager: kube.FieldManager, Force: r.Force || it.drifted,
		DryRun: r.DryRun.Options(),
	}
	made, err := it.api.Apply(ctx, it.name, wanted, options)
	others := conflicts(err)
	if isFieldConflict(err) && len(others) == 0 { // in a dry run upgrade has not been kept
		options.Force = true
		made, err = it.api.Apply(ctx, it.name, wanted, options)
	}
	switch {
	case len(others) > 0:
		return true, it.conflict(others)
	case isStale(err):
		return false, nil
	case err != nil:
		return true, kube.Fault(err, it.call("patch"))
	}
	it.change.Object = made
	if !equalContent(made, it.change.Before) {
		it.change.Action = Updated
	}
	return true, nil
}

// upgrade makes the fields that berth set when it created an object those of its
// server-side apply. Otherwise fields that are not wanted any more would stay.
func (r *run) upgrade(ctx context.Context, it *item) (*unstructured.Unstructured, error) {
	current := it.change.Before
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(current, sets.New(kube.FieldManager), kube.FieldManager)
	if err != nil || patch == nil {
		return current, err
	}
	return it.api.Patch(ctx, it.name, types.JSONPatchType, patch,
		metav1.PatchOptions{FieldManager: kube.FieldManager, DryRun: r.DryRun.Options()})
}

// unchangeable uses a pod or a claim as it is, or makes a claim or a Service again.
func (r *run) unchangeable(ctx context.Context, it *item, current *unstructured.Unstructured) (done bool, err error) {
	if isKind(current, kindClaim, kindService) && r.Recreates != nil && r.Recreates(ctx, current, it.object) {
		return r.recreate(ctx, it, current)
	}
	return r.markClaim(ctx, it)
}

// moves is true for a Service that is made again, as the address that it has cannot be changed.
func (r *run) moves(ctx context.Context, it *item, current *unstructured.Unstructured) bool {
	return isKind(current, kindService) && r.Recreates != nil && r.Recreates(ctx, current, it.object)
}

// recreate deletes an object in the very version that was read, in which nothing is lost, so that it is created again.
// It is not done, but in a dry run: the next try waits until it is gone. Without the right to delete it, a claim is
// used as it is.
func (r *run) recreate(ctx context.Context, it *item, current *unstructured.Unstructured) (done bool, err error) {
	if r.DryRun != DryRunNone {
		it.change = &Change{Action: Created, Object: it.object, InPlaceOf: current}
		return true, nil
	}
	if err := r.confirm(ctx); err != nil {
		return true, err
	}
	options, version := r.deletion(current), current.GetResourceVersion()
	options.Preconditions.ResourceVersion = &version
	err = it.api.Delete(ctx, it.name, options)
	switch {
	case err == nil:
		it.inPlaceOf = current
		return false, nil
	case isStale(err):
		return false, nil
	case apierrors.IsForbidden(err) && isKind(current, kindClaim):
		return r.markClaim(ctx, it)
	}
	return true, kube.Fault(err, it.call("delete"))
}

// equalContent compares all but what the API server writes on the side.
func equalContent(a, b *unstructured.Unstructured) bool {
	strip := func(object *unstructured.Unstructured) map[string]any {
		object = object.DeepCopy()
		object.SetManagedFields(nil)
		object.SetResourceVersion("")
		object.SetGeneration(0)
		return object.Object
	}
	return equality.Semantic.DeepEqual(strip(a), strip(b))
}

// isStale is true for the answer to a change of an object that is not as it was
// when it was read: it was changed meanwhile, or another one has its name.
func isStale(err error) bool {
	immutableUID := func(cause metav1.StatusCause) bool { return cause.Field == "metadata.uid" }
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) && !isFieldConflict(err) ||
		apierrors.IsInvalid(err) && slices.ContainsFunc(causes(err), immutableUID)
}

// waited is the error of an object that was waited for.
func (r *run) waited(waiting context.Context, it *item, err error) error {
	_, answered := errors.AsType[*fault.Error](err) // by a request, which may have timed out too
	switch {
	case !wait.Interrupted(err), answered, waiting.Err() != nil:
		return err
	case it.notServed != nil && it.change == nil:
		return it.notServed
	case it.change != nil && it.change.Before != nil && it.change.Before.GetDeletionTimestamp() != nil:
		return fault.New(fault.Conflict, "timed out waiting for deletion of %s", it.describe()).
			WithHint("see what holds it: %s", it.kubectlGet())
	}
	return it.changing()
}

// changing is the error of an object that others change again and again.
func (it *item) changing() error {
	return fault.New(fault.Conflict, "%s is being changed by another client", it.describe()).WithHint("try again")
}

// isNotServed is true for the answer to the creation of a custom resource whose
// definition, which is in the set, is established, but is not served yet.
func (r *run) isNotServed(it *item, err error) bool {
	_, defined := r.defined[it.Object.GroupVersionKind()]
	return defined && r.DryRun == DryRunNone && apierrors.IsNotFound(err) && !kube.IsNamespaceMissing(err)
}
