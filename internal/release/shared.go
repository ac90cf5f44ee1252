package release

import (
	"context"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/registry"
)

// managedBy marks what berth made for a whole namespace. Nothing says which
// workspace was the first: it belongs to none.
const managedBy = "berth"

// Share makes sure that the objects are there which the namespace's workspaces
// have in common. One that exists is left as it is, whoever made it; only the
// pull secret that berth made gets credentials that have changed. It returns
// them as the cluster has them, in the same order.
func (a Applier) Share(ctx context.Context, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	there := make([]*unstructured.Unstructured, len(objects))
	group, groupCtx := errgroup.WithContext(ctx)
	for i, object := range objects {
		group.Go(func() (err error) {
			there[i], err = a.share(groupCtx, object)
			return err
		})
	}
	return there, group.Wait()
}

func (a Applier) share(ctx context.Context, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	resource, call, err := a.resource(object, "create")
	if err != nil {
		return nil, err
	}
	object = common(object, a.Namespace)
	made, err := resource.Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
	if !apierrors.IsAlreadyExists(err) {
		return made, kube.Fault(err, call)
	}
	call.Verb = "get"
	current, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, kube.Fault(err, call)
	}
	return a.refresh(ctx, resource, call, current, object)
}

// refresh brings the pull secret up to date.
func (a Applier) refresh(ctx context.Context, resource dynamic.ResourceInterface, call kube.Call, current, wanted *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	next, changed, err := refreshed(current, wanted)
	if err != nil || !changed {
		return current, err
	}
	call.Verb = "update"
	made, err := resource.Update(ctx, next, metav1.UpdateOptions{FieldManager: fieldManager})
	return made, kube.Fault(err, call)
}

// refreshed is what an object that is shared becomes. One that somebody else
// made stays as it is: they know why.
func refreshed(current, wanted *unstructured.Unstructured) (next *unstructured.Unstructured, changed bool, err error) {
	if wanted.GetKind() != "Secret" || current.GetLabels()[labelManagedBy] != managedBy {
		return current, false, nil
	}
	merged, err := registry.MergePullSecret(current, wanted)
	if err != nil || merged == nil {
		return current, false, err
	}
	return merged, true, nil
}

// common marks an object as the namespace's.
func common(object *unstructured.Unstructured, namespace string) *unstructured.Unstructured {
	out := object.DeepCopy()
	out.SetNamespace(namespace)
	labels := out.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[labelManagedBy] = managedBy
	out.SetLabels(labels)
	return out
}
