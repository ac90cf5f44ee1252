package standalone

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// labelled are the objects that carry the ID of a workspace whose record cannot be
// read. Unread are the kinds that the caller may not list.
func (t Target) labelled(ctx context.Context) (objects []*unstructured.Unstructured, unread []string, err error) {
	for _, kind := range []schema.GroupVersionKind{
		corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"),
		schema.FromAPIVersionAndKind("networking.k8s.io/v1", "NetworkPolicy"),
		schema.FromAPIVersionAndKind(manifest.CertManager, "Certificate"),
	} {
		some, err := t.ofKind(ctx, kind)
		if apierrors.IsForbidden(err) {
			unread = append(unread, kind.Kind)
			continue
		}
		if err != nil {
			resource, _ := kube.ResourceOf(kind)
			return nil, nil, kube.Fault(err,
				kube.Call{Verb: "list", Resource: resource.GroupResource().String(), Namespace: t.Client.Namespace})
		}
		objects = append(objects, some...)
	}
	return objects, unread, nil
}

// ofKind are the objects of a kind that carry the ID and are not in a workload. A
// kind that the cluster does not know has none.
func (t Target) ofKind(ctx context.Context, kind schema.GroupVersionKind) (objects []*unstructured.Unstructured,
	err error,
) {
	resource, _ := kube.ResourceOf(kind)
	selector := kube.LabelCanonicalID + "=" + kube.LabelValue(t.ID) + "," + kube.LabelInjected + "!=true," +
		kube.LabelKept + "!=true"
	list, err := t.Client.Dynamic.Resource(resource.GroupVersionResource).Namespace(t.Client.Namespace).
		List(ctx, metav1.ListOptions{LabelSelector: selector})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, item := range list.Items {
		object := kube.Named(kind.Kind, item.GetName())
		object.SetAPIVersion(kind.GroupVersion().String())
		objects = append(objects, object)
	}
	return objects, nil
}

// unreadable says that the record is, and what that means for a removal.
func unreadable(found inventory.Found, unread []string) string {
	text := found.Unreadable.Error() + "; what says that it belongs to the workspace is deleted, and the record with it"
	if len(unread) > 0 {
		text += "; what you may not list is kept, unless the pod names it: " + strings.Join(unread, ", ")
	}
	return text
}
