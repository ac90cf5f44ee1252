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

// Remove deletes these very objects, as Find has read them, in the reverse order of
// applying, so that nothing restarts without its ConfigMap; custom resources before
// the workloads, among which may be the controllers that have to remove their
// finalizers. That one is gone, or that another one has its name now, is not an
// error. It returns what was deleted, also with an error.
func (a Applier) Remove(ctx context.Context, objects []*unstructured.Unstructured) (Changes, error) {
	targets, err := a.targets(ctx, objects)
	if err != nil {
		return nil, err
	}
	r := &run{Applier: a}
	for i, object := range objects {
		it := &item{Wanted: Wanted{Object: object}, target: targets[i]}
		if object.GetUID() == "" {
			return nil, fault.New(fault.Internal, "%s is to be deleted and has not been read", it.describe())
		}
		r.items = append(r.items, it)
	}
	for _, wave := range slices.Backward(r.waves(removalWaveOf)) {
		r.prepare(wave)
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

// newer is the object as it is now; nil if it is gone, or if another one has its
// name.
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

// deletion is the deletion of the very object; under a lock, of the very version, for
// a newer run may have taken it over since. A pod is never taken over: a newer run
// makes another one.
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

// Leftovers are the objects of an older set that a newer one does not have any
// more. What holds the data of users, and what is marked to be kept, stays. The
// namespace is that of the objects which name none.
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

func contains(objects []*unstructured.Unstructured, object *unstructured.Unstructured, namespace string) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return same(o, object, namespace) })
}
