package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// Find reads, side by side, those of the objects that exist. An object has to say
// itself that it is the owner's: that a list names it is not enough. What does not is
// foreign.
func (a Applier) Find(ctx context.Context, objects []*unstructured.Unstructured,
	owns func(*unstructured.Unstructured) bool,
) (own, foreign []*unstructured.Unstructured, err error) {
	targets, err := a.lookUp(ctx, objects)
	if err != nil {
		return nil, nil, err
	}
	r := &run{Applier: a}
	for i, object := range objects {
		if targets[i].known() { // otherwise it does not exist
			it := &item{Wanted: Wanted{Object: object}, target: targets[i]}
			it.api = it.in(a.Client)
			r.items = append(r.items, it)
		}
	}
	err = sideBySide(ctx, r.items, func(ctx, _ context.Context, it *item) error {
		current, err := it.api.Get(ctx, it.name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		it.object = current
		return kube.Fault(err, it.call("get"))
	})
	if err != nil {
		return nil, nil, err
	}
	for _, it := range r.items {
		switch {
		case it.object == nil:
		case owns(it.object):
			own = append(own, it.object)
		default:
			foreign = append(foreign, it.object)
		}
	}
	return own, foreign, nil
}

// Without are the objects of a set that another does not have. The namespace is that
// of the objects which name none.
func Without(set, other []*unstructured.Unstructured, namespace string) (rest []*unstructured.Unstructured) {
	for _, object := range set {
		if !contains(other, object, namespace) {
			rest = append(rest, object)
		}
	}
	return rest
}
