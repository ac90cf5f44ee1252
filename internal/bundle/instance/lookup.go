package instance

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/bundle/chart"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// capabilities are the cluster's version and the versions of its APIs.
func (r Reconciler) capabilities(context.Context) (c chart.Capabilities, err error) {
	discovery := r.Installs.Discovery()
	version, err := discovery.ServerVersion()
	if err != nil {
		return c, kube.Fault(err, kube.Call{Verb: "get", Resource: "/version"})
	}
	c.Version = version.GitVersion
	_, lists, err := discovery.ServerGroupsAndResources()
	if err != nil && len(lists) == 0 { // an API service that does not answer leaves a gap
		return c, kube.Fault(err, kube.Call{Verb: "get", Resource: "/apis"})
	}
	for _, list := range lists {
		c.APIVersions = append(c.APIVersions, list.GroupVersion)
		for _, resource := range list.APIResources {
			c.APIVersions = append(c.APIVersions, list.GroupVersion+"/"+resource.Kind)
		}
	}
	return c, nil
}

// maxLookup is how many objects a template is given in a list.
const maxLookup = 1000

// lookup finds an object for a template, or a list of them.
func (r Reconciler) lookup(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	if r.Reserved.Hides(namespace) || r.Reserved.Hides(name) && kind == "Namespace" {
		return nil, fault.New(fault.Failed, "the template looks up %s in the system namespace %s, which bundles leave alone", kube.Object(kind, name), namespace).
			WithHint("a server with --allow-system lets it")
	}
	resource, known, err := r.Applier("", namespace).ResourceOf(ctx, object.GroupVersionKind())
	if err != nil || !known {
		return nil, err
	}
	var api dynamic.ResourceInterface = r.Installs.Dynamic.Resource(resource.GroupVersionResource)
	if namespace != "" && resource.Namespaced {
		api = r.Installs.Dynamic.Resource(resource.GroupVersionResource).Namespace(namespace)
	}
	call := kube.Call{Verb: "get", Resource: resource.GroupResource().String(), Namespace: namespace, Name: name}
	if name == "" {
		call.Verb = "list"
		list, err := api.List(ctx, metav1.ListOptions{Limit: maxLookup})
		if err != nil {
			return nil, kube.Fault(err, call)
		}
		list.Items = slices.DeleteFunc(list.Items, func(o unstructured.Unstructured) bool { return r.Reserved.Hides(o.GetNamespace()) })
		return list.UnstructuredContent(), nil
	}
	found, err := api.Get(ctx, name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, kube.Fault(err, call)
	}
	return found.Object, nil
}
