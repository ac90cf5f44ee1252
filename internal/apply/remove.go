package apply

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// annotationKeep is Helm's mark of an object that outlives its release.
const annotationKeep = "helm.sh/resource-policy"

// Remove deletes objects of the owner, in the reverse order of applying, so that
// nothing restarts without its ConfigMap; custom resources before the workloads,
// among which may be the controllers that have to remove their finalizers. An object
// with a UID is deleted only if the cluster's has the same one. That it does not
// exist is not an error. It returns what was deleted, also with an error.
func (a Applier) Remove(ctx context.Context, objects []*unstructured.Unstructured) (Changes, error) {
	targets, err := a.lookUp(ctx, objects)
	if err != nil {
		return nil, err
	}
	r := &run{Applier: a}
	for i, object := range objects {
		if targets[i].known() { // otherwise it does not exist
			r.items = append(r.items, &item{Wanted: Wanted{Object: object}, target: targets[i]})
		}
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
	current, err := r.removable(ctx, it)
	if current == nil || err != nil {
		return err
	}
	options := metav1.DeleteOptions{PropagationPolicy: new(metav1.DeletePropagationBackground), DryRun: r.DryRun.Options()}
	if uid := current.GetUID(); uid != "" {
		options.Preconditions = &metav1.Preconditions{UID: &uid}
	}
	err = it.api.Delete(ctx, it.name, options)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) && options.Preconditions != nil {
		return nil
	}
	if err == nil {
		it.change = &Change{Action: Deleted, Object: current, Before: current}
	}
	return kube.Fault(err, it.call("delete"))
}

// removable is the object to be deleted; nil if it does not exist or belongs to
// another owner.
func (r *run) removable(ctx context.Context, it *item) (*unstructured.Unstructured, error) {
	if r.ByName && r.DryRun == DryRunNone {
		return it.Object, nil
	}
	current, err := it.api.Get(ctx, it.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, kube.Fault(err, it.call("get"))
	}
	if uid := it.Object.GetUID(); uid != "" && uid != current.GetUID() || !r.ByName && !r.Owner.Owns(current) {
		return nil, nil
	}
	return current, nil
}

// Leftovers are the objects of an older set that a newer one does not have any
// more. What holds the data of users, and what is marked to be kept, stays. The
// namespace is that of the objects which name none.
func Leftovers(older, newer []*unstructured.Unstructured, namespace string) (remove, keep []*unstructured.Unstructured) {
	for _, object := range older {
		switch {
		case slices.ContainsFunc(newer, func(o *unstructured.Unstructured) bool { return same(o, object, namespace) }):
		case isKind(object, kindClaim, kindDefinition, kindNamespace), object.GetAnnotations()[annotationKeep] == "keep":
			keep = append(keep, object)
		default:
			remove = append(remove, object)
		}
	}
	return remove, keep
}
