package standalone

import (
	"cmp"
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/manifest"
)

// labelled are the objects of a workspace whose record cannot be read: those whose
// names follow from its ID, and those that carry the ID. Unread are the kinds that
// the caller may not list.
func (t Target) labelled(ctx context.Context, found inventory.Found) (objects []*unstructured.Unstructured, unread []string, err error) {
	pod := cmp.Or(found.Pod, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: t.ID}})
	objects = manifest.OfPod(pod)
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
			return nil, nil, kube.Fault(err, kube.Call{Verb: "list", Resource: resource.GroupResource().String(), Namespace: t.Client.Namespace})
		}
		objects = append(objects, some...)
	}
	return unique(objects), unread, nil
}

// ofKind are the objects of a kind that carry the ID and are not in a workload. A
// kind that the cluster does not know has none.
func (t Target) ofKind(ctx context.Context, kind schema.GroupVersionKind) (objects []*unstructured.Unstructured, err error) {
	resource, _ := kube.ResourceOf(kind)
	selector := kube.LabelCanonicalID + "=" + kube.LabelValue(t.ID) + "," + kube.LabelInjected + "!=true"
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

// unique leaves out what is there already.
func unique(objects []*unstructured.Unstructured) (all []*unstructured.Unstructured) {
	for _, object := range objects {
		same := func(o *unstructured.Unstructured) bool {
			return o.GetName() == object.GetName() && o.GroupVersionKind() == object.GroupVersionKind()
		}
		if !slices.ContainsFunc(all, same) {
			all = append(all, object)
		}
	}
	return all
}

// removeUnreadable deletes the objects that say themselves that they belong to the
// release, for the record does not, and then the record.
func (t Target) removeUnreadable(ctx context.Context, found inventory.Found, dry apply.DryRun) (removed, beside apply.Changes, err error) {
	objects, unread, err := t.labelled(ctx, found)
	if err != nil {
		return nil, nil, err
	}
	text := found.Unreadable.Error() + "; what carries the ID and is marked as the release's is deleted, and the record with it"
	if len(unread) > 0 {
		text += "; what you may not list is kept, unless the pod names it: " + strings.Join(unread, ", ")
	}
	t.Steps.Warn("RecordUnreadable", "release/"+t.ID, text)
	applier := t.applier(dry)
	applier.ByName = false
	if removed, err = applier.Remove(ctx, objects); err != nil {
		return removed, nil, err
	}
	if beside, err = applier.Remove(ctx, manifest.Certified(objects)); err != nil {
		return removed, beside, err
	}
	purged, err := t.Records().Purge(ctx, t.ID, dry)
	return removed, append(beside, purged...), err
}
