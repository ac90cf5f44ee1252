package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// Withdraw deletes what a run has created and nobody has taken up since, after the run
// has lost its lock. Each object is asked for itself: it is as it was created, or what
// others have written in it has left the run's own mark. It returns what was deleted,
// also with an error, and goes on after one.
func (a Applier) Withdraw(ctx context.Context, changes Changes) (withdrawn Changes, err error) {
	created := changes.With(Created)
	targets, err := a.targets(ctx, objectsOf(created))
	if err != nil {
		return nil, err
	}
	r := &run{Applier: a}
	for i, change := range created {
		r.items = append(r.items, &item{Wanted: Wanted{Object: change.Object}, target: targets[i]})
	}
	r.prepare(r.items)
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
		err := it.api.Delete(ctx, it.name, r.deletion(current))
		if err == nil {
			it.change = &Change{Action: Deleted, Object: current, Before: current}
		}
		if !apierrors.IsConflict(err) {
			if apierrors.IsNotFound(err) {
				err = nil
			}
			return kube.Fault(err, it.call("delete"))
		}
		if current, err = it.api.Get(ctx, it.name, metav1.GetOptions{}); err != nil {
			return nil //nolint:nilerr // it is gone, or stays for the next run
		}
		if current.GetUID() != it.Object.GetUID() || !r.isMarked(current) {
			return nil
		}
	}
	return nil
}

// isMarked says whether this run was the last to write an object.
func (r *run) isMarked(object *unstructured.Unstructured) bool {
	if r.Fence == nil {
		return false
	}
	name, value := r.Fence.Mark()
	return value != "" && object.GetAnnotations()[name] == value
}

func objectsOf(changes Changes) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, len(changes))
	for i, change := range changes {
		objects[i] = change.Object
	}
	return objects
}
