package apply

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/berthdev/berth/internal/apply/fields"
	"github.com/berthdev/berth/internal/kube"
)

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
	case isKind(current, kindPod, kindClaim): // which cannot be changed in place
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

// isStale is true for the answer to a change of an object that is not as it was
// when it was read: it was changed meanwhile, or another one has its name.
func isStale(err error) bool {
	immutableUID := func(cause metav1.StatusCause) bool { return cause.Field == "metadata.uid" }
	return apierrors.IsNotFound(err) || apierrors.IsConflict(err) && !isFieldConflict(err) ||
		apierrors.IsInvalid(err) && slices.ContainsFunc(causes(err), immutableUID)
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
