package apply

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/berthdev/berth/internal/apply/live"
	"github.com/berthdev/berth/internal/kube"
)

// mostNamespaces is in how many namespaces a kind is watched one by one. Beyond it one watch of all of them is less.
const mostNamespaces = 4

// Watch lets the view of the applier know everything about these objects, and about others of their kinds.
func (a Applier) Watch(ctx context.Context, objects []*unstructured.Unstructured) error {
	all, err := a.Scopes(ctx, objects)
	if err != nil {
		return err
	}
	return a.Live.Watch(ctx, all...)
}

// Scopes are what has to be watched to know everything about some objects. Of a kind that the cluster does not have
// there are none.
func (a Applier) Scopes(ctx context.Context, objects []*unstructured.Unstructured) ([]live.Scope, error) {
	targets, err := a.lookUp(ctx, objects)
	if err != nil {
		return nil, err
	}
	return scopes(targets), nil
}

// look reads what the cluster has of the set, and refuses what cannot be applied before
// anything is: all problems together.
func (r *run) look(ctx context.Context) error {
	if r.Live == nil || r.First {
		return nil
	}
	targets := make([]target, len(r.items))
	for i, it := range r.items {
		targets[i] = it.target
	}
	if err := r.Live.Watch(ctx, scopes(targets)...); err != nil {
		return err
	}
	return r.checkAll(ctx)
}

// scopes are what has to be watched to know everything about some targets.
func scopes(targets []target) (all []live.Scope) {
	var kinds []kube.Resource
	namespaces := map[kube.Resource][]string{}
	seen := map[live.Scope]bool{}
	for _, t := range targets {
		scope := live.Scope{Resource: t.Resource, Namespace: t.namespace}
		if !t.known() || seen[scope] {
			continue
		}
		seen[scope] = true
		if namespaces[t.Resource] == nil {
			kinds = append(kinds, t.Resource)
		}
		namespaces[t.Resource] = append(namespaces[t.Resource], t.namespace)
	}
	for _, kind := range kinds {
		some := namespaces[kind]
		if len(some) > mostNamespaces {
			some = []string{""}
		}
		for _, namespace := range some {
			all = append(all, live.Scope{Resource: kind, Namespace: namespace})
		}
	}
	return all
}

// seen is an object as the view has it; nil if it has none.
func (r *run) seen(it *item) *unstructured.Unstructured {
	if r.Live == nil || r.First {
		return nil
	}
	current, _ := r.Live.Get(it.Resource, it.namespace, it.name)
	return current
}

// Find reads, side by side, those of the objects that exist. An object has to say itself that it is the owner's: that a
// list names it is not enough. What does not is foreign.
func (a Applier) Find(ctx context.Context, objects []*unstructured.Unstructured,
	owns func(*unstructured.Unstructured) bool,
) (own, foreign []*unstructured.Unstructured, err error) {
	r, err := a.over(ctx, objects, a.lookUp)
	if err != nil {
		return nil, nil, err
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

// Without are the objects of a set that another does not have. The namespace is that of the objects which name none.
func Without(set, other []*unstructured.Unstructured, namespace string) (rest []*unstructured.Unstructured) {
	for _, object := range set {
		if !contains(other, object, namespace) {
			rest = append(rest, object)
		}
	}
	return rest
}

func contains(objects []*unstructured.Unstructured, object *unstructured.Unstructured, namespace string) bool {
	return slices.ContainsFunc(objects, func(o *unstructured.Unstructured) bool { return same(o, object, namespace) })
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
