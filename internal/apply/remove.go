package apply

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/berthdev/berth/internal/kube"
)

// annotationKeep is Helm's mark of an object that outlives its release.
const annotationKeep = "helm.sh/resource-policy"

// Remove deletes objects of the owner, in the reverse order of applying, so that
// nothing restarts without its ConfigMap. One that carries a UID is deleted only
// if it still is the one. What is gone already is no error. It returns what was
// deleted, also with an error.
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
	for _, wave := range slices.Backward(r.waves()) {
		r.prepare(wave)
		if err = sideBySide(ctx, wave, r.remove); err != nil {
			break
		}
		if err = r.awaitGone(ctx, wave); err != nil {
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

// awaitGone waits until what was deleted is gone, if that is wanted.
func (r *run) awaitGone(ctx context.Context, wave []*item) error {
	if !r.Wait || r.DryRun != DryRunNone {
		return nil
	}
	return sideBySide(ctx, wave, func(ctx, waiting context.Context, it *item) error {
		if it.change == nil {
			return nil
		}
		return wait.PollUntilContextCancel(waiting, deletionPoll, true, func(context.Context) (bool, error) {
			current, err := it.api.Get(ctx, it.name, metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				return true, nil
			}
			return err == nil && !isOne(current, it.change.Object.GetUID()), kube.Fault(err, it.call("get"))
		})
	})
}

// isOne is false for another object than the one with this UID, if that is known.
func isOne(object *unstructured.Unstructured, uid types.UID) bool {
	return uid == "" || object.GetUID() == uid
}

// Leftovers are the objects of an older set that a newer one does not have any
// more. What holds the data of users, and what is marked to be kept, stays.
func Leftovers(older, newer []*unstructured.Unstructured) (remove, keep []*unstructured.Unstructured) {
	for _, object := range older {
		switch {
		case slices.ContainsFunc(newer, func(o *unstructured.Unstructured) bool { return same(o, object) }):
		case isKind(object, kindClaim, kindDefinition, kindNamespace), object.GetAnnotations()[annotationKeep] == "keep":
			keep = append(keep, object)
		default:
			remove = append(remove, object)
		}
	}
	return remove, keep
}
