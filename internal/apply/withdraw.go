package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// Withdraw deletes what a run has created and nobody has adopted since, after the run
// has lost its lock: the object is as it was created, or what others have written in it
// has left the run's own mark. What the run may have created although the answer was
// lost is asked for that mark. It returns what was deleted, also with an error, and
// goes on after one.
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
	targets, err := a.lookUp(ctx, mine)
	if err != nil {
		return nil, err
	}
	r := &run{Applier: a}
	for i, object := range mine {
		if targets[i].known() {
			r.items = append(r.items, &item{Wanted: Wanted{Object: object}, target: targets[i]})
		}
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
