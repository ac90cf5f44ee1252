package instance

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/kube"
)

// emptied are the objects without the namespaces that hold what is kept, or what others
// have put there: the cluster would delete it with the namespace.
func (u removal) emptied(ctx context.Context, objects []*unstructured.Unstructured,
	keep []left,
) (rest []*unstructured.Unstructured, kept []left, err error) {
	for _, object := range objects {
		if object.GetKind() == "Namespace" {
			because := keptIn(object.GetName(), keep)
			if because == "" {
				holds, err := u.holds(ctx, object.GetName())
				if err != nil {
					return nil, nil, err
				}
				if holds != "" {
					because = "it holds " + holds + ", which is not the bundle's"
				}
			}
			if because != "" {
				kept = append(kept, left{object, because})
				continue
			}
		}
		rest = append(rest, object)
	}
	return rest, kept, nil
}

// keptIn says what is kept in a namespace; empty if nothing is.
func keptIn(namespace string, keep []left) string {
	for _, l := range keep {
		if l.object.GetNamespace() == namespace {
			return "it holds " + l.kept().Object + ", which is kept"
		}
	}
	return ""
}

// holds names something in a namespace that the instance has not put there; empty if
// there is nothing of the kinds that people keep work in.
func (u removal) holds(ctx context.Context, namespace string) (string, error) {
	for _, kind := range []schema.GroupVersionKind{
		{Version: "v1", Kind: "PersistentVolumeClaim"},
		{Version: "v1", Kind: "Secret"},
		{Version: "v1", Kind: "ConfigMap"},
		{Version: "v1", Kind: "Service"},
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Group: "apps", Version: "v1", Kind: "StatefulSet"},
		{Version: "v1", Kind: "Pod"},
	} {
		resource, _ := kube.ResourceOf(kind)
		list, err := u.Installs.Dynamic.Resource(resource.GroupVersionResource).Namespace(namespace).
			List(ctx, metav1.ListOptions{
				LabelSelector: v1alpha1.LabelOwnerName + "!=" + u.name, Limit: page,
			})
		if err != nil {
			return "", kube.Fault(err, kube.Call{
				Verb: "list", Resource: resource.GroupResource().String(),
				Namespace: namespace,
			})
		}
		for i := range list.Items {
			if o := &list.Items[i]; o.GetDeletionTimestamp() == nil && len(o.GetOwnerReferences()) == 0 &&
				o.GetName() != "kube-root-ca.crt" {
				return fmt.Sprintf("%s/%s", kind.Kind, o.GetName()), nil
			}
		}
	}
	return "", nil
}
