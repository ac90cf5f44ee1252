package cluster

import (
	"context"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// maxLookup is how many objects a template is given in a list.
const maxLookup = 1000

// The sizes of pages in which a list is read, and what is read at once, in bytes: objects may
// have 1.5 MiB each, and most have some KiB.
const (
	firstPage = 16
	pageBytes = 8 << 20
)

// listed reads a list of objects without those that are hidden, but not more of it than a chart
// may have.
func listed(ctx context.Context, api dynamic.ResourceInterface,
	hidden func(unstructured.Unstructured) bool,
) (map[string]any, error) {
	var all *unstructured.UnstructuredList
	size, held, token := int64(firstPage), 0.0, ""
	for {
		page, err := api.List(ctx, metav1.ListOptions{Limit: size, Continue: token})
		if err != nil {
			return nil, err
		}
		held += budget.Held(page.UnstructuredContent())
		if held > budget.MaxAnswer {
			return nil, fault.New(fault.InvalidArgument, "the objects take more than %d MiB", budget.MaxAnswer>>20)
		}
		if token = page.GetContinue(); all == nil {
			all = page
		} else {
			all.Items = append(all.Items, page.Items...)
		}
		rest := maxLookup - int64(len(all.Items))
		if token == "" || rest <= 0 {
			all.Items = slices.DeleteFunc(all.Items, hidden)
			return all.UnstructuredContent(), nil
		}
		size = min(rest, max(1, int64(pageBytes/(held/float64(len(all.Items))))))
	}
}

// reserved names what is looked up in the system namespace, or that namespace itself.
func (v View) reserved(kind, name string) string {
	system := "the system namespace " + v.Reserved.System
	switch {
	case kind == "Namespace":
		return system
	case name == "":
		return "every " + kind + " in " + system
	}
	return kube.Object(kind, name) + " in " + system
}

// Lookup finds an object for a template, or a list of them: see chart.Lookup.
func (v View) Lookup(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(apiVersion)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	if v.Reserved.Hides(namespace) || v.Reserved.Hides(name) && kind == "Namespace" {
		return nil, fault.New(fault.Failed, "the template looks up %s, which bundles leave alone",
			v.reserved(kind, name)).
			WithHint("a server with --allow-system lets it")
	}
	resource, known, err := v.ResourceOf(ctx, object.GroupVersionKind())
	if err != nil || !known {
		return nil, err
	}
	var api dynamic.ResourceInterface = v.Client.Dynamic.Resource(resource.GroupVersionResource)
	if namespace != "" && resource.Namespaced {
		api = v.Client.Dynamic.Resource(resource.GroupVersionResource).Namespace(namespace)
	}
	call := kube.Call{Verb: "get", Resource: resource.GroupResource().String(), Namespace: namespace, Name: name}
	if name == "" {
		call.Verb = "list"
		hidden := func(o unstructured.Unstructured) bool { return v.Reserved.Hides(o.GetNamespace()) }
		list, err := listed(ctx, api, hidden)
		return list, kube.Fault(err, call)
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
