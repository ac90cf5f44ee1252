package apply

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/kube"
)

// Removable divides what is to be removed altogether: what is marked to be kept stays,
// and definitions of custom resources, with which the resources would go, unless they
// are asked for.
func Removable(objects []*unstructured.Unstructured, definitions bool) (remove, keep []*unstructured.Unstructured) {
	for _, object := range objects {
		if IsKept(object) || isKind(object, kindDefinition) && !definitions {
			keep = append(keep, object)
			continue
		}
		remove = append(remove, object)
	}
	return remove, keep
}

// CountResources is how many objects would go with each definition of custom resources
// among these objects, by the definition's name. It is one request a definition.
func (a Applier) CountResources(ctx context.Context, objects []*unstructured.Unstructured) (map[string]int64, error) {
	counts := map[string]int64{}
	for _, object := range objects {
		version, resource := storedResource(object)
		if resource == "" {
			continue
		}
		at := schema.GroupVersionResource{Group: version.Group, Version: version.Version, Resource: resource}
		list, err := a.Client.Resource(at).List(ctx, metav1.ListOptions{Limit: 1})
		if apierrors.IsNotFound(err) {
			continue // it is not served, or gone
		}
		if err != nil {
			return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: at.GroupResource().String()})
		}
		counts[object.GetName()] = int64(len(list.Items))
		if rest := list.GetRemainingItemCount(); rest != nil {
			counts[object.GetName()] += *rest
		}
	}
	return counts, nil
}

// storedResource is the resource that a definition defines, in a version that is served;
// empty for what is no definition.
func storedResource(object *unstructured.Unstructured) (version schema.GroupVersion, resource string) {
	if !isKind(object, kindDefinition) {
		return version, ""
	}
	versions, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
	for _, v := range versions {
		one, _ := v.(map[string]any)
		name, _ := one["name"].(string)
		if served, said := one["served"].(bool); name == "" || said && !served {
			continue
		}
		version.Group, _, _ = unstructured.NestedString(object.Object, "spec", "group")
		version.Version = name
		resource, _, _ = unstructured.NestedString(object.Object, "spec", "names", "plural")
		return version, resource
	}
	return version, ""
}
