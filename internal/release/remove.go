package release

import (
	"context"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// Remove deletes the objects of a release and returns how many there still
// were. Workloads go first, so that nothing restarts without its ConfigMap;
// what is gone already is no error.
func (a Applier) Remove(ctx context.Context, objects []*unstructured.Unstructured) (int, error) {
	removed := make([]bool, len(objects))
	for _, workloads := range []bool{true, false} {
		group, groupCtx := errgroup.WithContext(ctx)
		for i, object := range objects {
			if kube.IsWorkload(object.GroupVersionKind()) != workloads {
				continue
			}
			group.Go(func() (err error) {
				removed[i], err = a.remove(groupCtx, object)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return 0, err
		}
	}
	n := 0
	for _, r := range removed {
		if r {
			n++
		}
	}
	return n, nil
}

func (a Applier) remove(ctx context.Context, object *unstructured.Unstructured) (bool, error) {
	resource, call, err := a.resource(object, "delete")
	if err != nil {
		return false, err
	}
	propagation := metav1.DeletePropagationBackground
	err = resource.Delete(ctx, object.GetName(), metav1.DeleteOptions{PropagationPolicy: &propagation})
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	return err == nil, kube.Fault(err, call)
}

// Leftovers are the objects of an old manifest that a new one does not have
// any more. Claims are never among them: they hold what a user made.
func Leftovers(old, current []*unstructured.Unstructured) (remove, keep []*unstructured.Unstructured) {
	have := map[string]bool{}
	for _, object := range current {
		have[kube.Object(object.GetKind(), object.GetName())] = true
	}
	for _, object := range old {
		switch {
		case have[kube.Object(object.GetKind(), object.GetName())]:
		case object.GetKind() == "PersistentVolumeClaim":
			keep = append(keep, object)
		default:
			remove = append(remove, object)
		}
	}
	return remove, keep
}
