package apply

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// AnnotationKeep is Helm's mark of an object that outlives its release.
const AnnotationKeep = "helm.sh/resource-policy"

// deleteTries is how often an object is deleted that others change meanwhile.
const deleteTries = 10

// Remove deletes these very objects, as Find has read them, in the reverse order of applying, so that nothing restarts
// without its ConfigMap; custom resources before the workloads, among which may be the controllers that have to remove
// their finalizers. That one is gone, or that another one has its name now, is not an error. It returns what was
// deleted, also with an error.
func (a Applier) Remove(ctx context.Context, objects []*unstructured.Unstructured) (Changes, error) {
	r, err := a.over(ctx, objects, a.targets)
	if err != nil {
		return nil, err
	}
	for _, it := range r.items {
		if it.Object.GetUID() == "" {
			return nil, fault.New(fault.Internal, "%s is to be deleted and has not been read", it.describe())
		}
	}
	for _, wave := range slices.Backward(r.waves(removalWaveOf)) {
		if err = sideBySide(ctx, wave, r.remove); err != nil {
			break
		}
	}
	return r.changes(), err
}

func (r *run) remove(ctx, _ context.Context, it *item) error {
	current := it.Object
	for try := 1; ; try++ {
		if err := r.check(ctx, current); err != nil {
			return err
		}
		if err := r.confirm(ctx); err != nil {
			return err
		}
		err := it.api.Delete(ctx, it.name, r.deletion(current))
		if err == nil {
			it.change = &Change{Action: Deleted, Object: current, Before: current}
		}
		if err == nil || apierrors.IsNotFound(err) {
			return nil
		}
		if !apierrors.IsConflict(err) || try == deleteTries {
			return kube.Fault(err, it.call("delete"))
		}
		if current, err = it.newer(ctx, current); current == nil {
			return err
		}
	}
}

// newer is the object as it is now; nil if it is gone, or if another one has its name.
func (it *item) newer(ctx context.Context, current *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	again, err := it.api.Get(ctx, it.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || err == nil && again.GetUID() != current.GetUID() {
		return nil, nil
	}
	if err != nil {
		return nil, kube.Fault(err, it.call("get"))
	}
	return again, nil
}

// deletion is the deletion of the very object; under a lock, of the very version, for a newer run may have taken it
// over since. A pod is never taken over: a newer run makes another one.
func (r *run) deletion(current *unstructured.Unstructured) metav1.DeleteOptions {
	uid, version := current.GetUID(), current.GetResourceVersion()
	options := metav1.DeleteOptions{
		PropagationPolicy: new(metav1.DeletePropagationBackground), DryRun: r.DryRun.Options(),
		Preconditions: &metav1.Preconditions{UID: &uid},
	}
	if r.Fence != nil && version != "" && !isKind(current, kindPod) {
		options.Preconditions.ResourceVersion = &version
	}
	return options
}

// Withdraw deletes what a run has created and nobody has adopted since, after the run has lost its lock: the object is
// as it was created, or what others have written in it has left the run's own mark. What the run may have created
// although the answer was lost is asked for that mark. It returns what was deleted, also with an error, and goes on
// after one.
func (a Applier) Withdraw(ctx context.Context, wanted []*unstructured.Unstructured,
	changes Changes,
) (withdrawn Changes, err error) {
	var mine []*unstructured.Unstructured
	for _, change := range changes.With(Created) {
		mine = append(mine, change.Object)
	}
	for _, object := range wanted {
		if _, known := changes.Of(object, a.Namespace); !known {
			mine = append(mine, object)
		}
	}
	r, err := a.over(ctx, mine, a.lookUp)
	if err != nil {
		return nil, err
	}
	for _, it := range r.items {
		if itErr := r.withdraw(ctx, it); itErr != nil && err == nil {
			err = itErr
		}
	}
	return r.changes(), err
}

func (r *run) withdraw(ctx context.Context, it *item) error {
	current := it.Object
	for range deleteTries {
		if current.GetUID() != "" {
			err := it.api.Delete(ctx, it.name, r.deletion(current))
			if err == nil {
				it.change = &Change{Action: Deleted, Object: current, Before: current}
			}
			if apierrors.IsNotFound(err) {
				return nil
			}
			if !apierrors.IsConflict(err) {
				return kube.Fault(err, it.call("delete"))
			}
		}
		var err error
		if current, err = it.api.Get(ctx, it.name, metav1.GetOptions{}); err != nil {
			return nil //nolint:nilerr // it is gone, or stays for the next run
		}
		if !r.isMine(it.Object, current) {
			return nil
		}
	}
	return nil
}

// isMine says whether this run has created an object and was the last to write it. A
// claim that it has only marked has the labels of its maker.
func (r *run) isMine(made, current *unstructured.Unstructured) bool {
	if r.Fence == nil || made.GetUID() != "" && made.GetUID() != current.GetUID() {
		return false
	}
	name, value := r.Fence.Mark()
	return value != "" && current.GetAnnotations()[name] == value && r.Owner.Owns(current) &&
		has(current.GetLabels(), made.GetLabels())
}

// Removable divides what is to be removed altogether: what is marked to be kept stays, and definitions of custom
// resources, with which the resources would go, unless they are asked for.
func Removable(objects []*unstructured.Unstructured, definitions bool) (remove, keep []*unstructured.Unstructured) {
	for _, object := range objects {
		if IsKept(object) || isKind(object, kindDefinition) && !definitions {
			keep = append(keep, object)
			continue
		}
		remove = append(remove, object)
	}
	return remove, keep
}

// Leftovers are the objects of an older set that a newer one does not have any more. What holds the data of users, and
// what is marked to be kept, stays. The namespace is that of the objects which name none.
func Leftovers(older, newer []*unstructured.Unstructured, namespace string) (remove,
	keep []*unstructured.Unstructured,
) {
	for _, object := range older {
		switch {
		case contains(newer, object, namespace):
		case Outlives(object):
			keep = append(keep, object)
		default:
			remove = append(remove, object)
		}
	}
	return remove, keep
}

// Outlives is true for an object that is not removed because a newer set does not have
// it: it holds the data of users, or it is marked to be kept.
func Outlives(object *unstructured.Unstructured) bool {
	return isKind(object, kindClaim, kindDefinition, kindNamespace) || IsKept(object)
}

// IsKept is true for an object that is marked as Helm marks what outlives its release.
func IsKept(object *unstructured.Unstructured) bool {
	return object.GetAnnotations()[AnnotationKeep] == "keep"
}
