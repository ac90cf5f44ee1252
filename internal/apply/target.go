package apply

import (
	"cmp"
	"context"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// ReasonKindMissing is the reason of the error of kinds that the cluster does not have.
const ReasonKindMissing = "KIND_MISSING"

// target is where an object is in the API.
type target struct {
	kube.Resource        // zero if the cluster does not have the kind
	namespace     string // empty for what is in none
	name          string
}

func (t target) known() bool { return t.Resource.Resource != "" }

func (t target) call(verb string) kube.Call {
	return kube.Call{Verb: verb, Resource: t.GroupResource().String(), Namespace: t.namespace, Name: t.name}
}

func (t target) in(client dynamic.Interface) dynamic.ResourceInterface {
	if t.namespace == "" {
		return client.Resource(t.GroupVersionResource)
	}
	return client.Resource(t.GroupVersionResource).Namespace(t.namespace)
}

// targets are those of the objects. A kind may be known to berth, be defined by
// one of the objects, or be known to the cluster; one that is not is an error.
func (a Applier) targets(ctx context.Context, objects []*unstructured.Unstructured) ([]target, error) {
	targets, err := a.lookUp(ctx, objects)
	if err != nil {
		return nil, err
	}
	var unknown []string
	for i, t := range targets {
		if kind := objects[i].GroupVersionKind().String(); !t.known() && !slices.Contains(unknown, kind) {
			unknown = append(unknown, kind)
		}
	}
	if len(unknown) > 0 {
		return nil, fault.New(fault.Failed, "the cluster does not have these kinds: %s", strings.Join(unknown, "; ")).
			WithReason(ReasonKindMissing).
			WithHint("install the CustomResourceDefinition or the API service that defines them, then try again")
	}
	return targets, nil
}

// Placed are the objects with metadata that names the namespace in which they will be, and none if their kind is in
// none; all else is shared with those that are given. A kind that the cluster does not have is an error.
func (a Applier) Placed(ctx context.Context, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured,
	error,
) {
	targets, err := a.targets(ctx, objects)
	if err != nil {
		return nil, err
	}
	placed := make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		placed[i] = kube.WithOwnMetadata(object)
		placed[i].SetNamespace(targets[i].namespace)
	}
	return placed, nil
}

// ResourceOf is how a kind is addressed in the API, if the cluster has it.
func (a Applier) ResourceOf(ctx context.Context, kind schema.GroupVersionKind) (resource kube.Resource, known bool,
	err error,
) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	targets, err := a.lookUp(ctx, []*unstructured.Unstructured{object})
	if err != nil {
		return resource, false, err
	}
	return targets[0].Resource, targets[0].known(), nil
}

// lookUp is targets for objects of which some may be of a kind that does not exist.
func (a Applier) lookUp(ctx context.Context, objects []*unstructured.Unstructured) ([]target, error) {
	kinds, asked := defined(objects), map[schema.GroupVersion]bool{}
	targets := make([]target, len(objects))
	for i, object := range objects {
		kind := object.GroupVersionKind()
		resource, ok := kube.ResourceOf(kind)
		if !ok {
			resource, ok = kinds[kind]
		}
		if version := kind.GroupVersion(); !ok && !asked[version] {
			asked[version] = true
			if err := a.discover(ctx, version, kinds); err != nil {
				return nil, err
			}
			resource = kinds[kind]
		}
		targets[i] = target{Resource: resource, name: object.GetName()}
		if resource.Namespaced {
			targets[i].namespace = cmp.Or(object.GetNamespace(), a.Namespace)
		}
	}
	return targets, nil
}

// discover asks the cluster for the kinds of a version of an API.
func (a Applier) discover(ctx context.Context, version schema.GroupVersion,
	kinds map[schema.GroupVersionKind]kube.Resource,
) error {
	list, err := discovery.ToServerResourcesInterfaceWithContext(a.Discovery).
		ServerResourcesForGroupVersionWithContext(ctx, version.String())
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return kube.Fault(err, kube.Call{Verb: "get", Resource: "/apis/" + version.String()})
	}
	for _, r := range list.APIResources {
		if !strings.Contains(r.Name, "/") { // which is a subresource
			kinds[version.WithKind(r.Kind)] = kube.Resource{
				GroupVersionResource: version.WithResource(r.Name),
				Namespaced:           r.Namespaced,
			}
		}
	}
	return nil
}

// defined are the kinds that custom resource definitions among the objects define.
func defined(objects []*unstructured.Unstructured) map[schema.GroupVersionKind]kube.Resource {
	kinds := map[schema.GroupVersionKind]kube.Resource{}
	for _, object := range objects {
		if !isKind(object, kindDefinition) {
			continue
		}
		field := func(path ...string) string {
			value, _, _ := unstructured.NestedString(object.Object, append([]string{"spec"}, path...)...)
			return value
		}
		versions, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
		for _, v := range versions {
			version, _ := v.(map[string]any)
			name, _ := version["name"].(string)
			gv := schema.GroupVersion{Group: field("group"), Version: name}
			kinds[gv.WithKind(field("names", "kind"))] = kube.Resource{
				GroupVersionResource: gv.WithResource(field("names", "plural")),
				Namespaced:           field("scope") == "Namespaced",
			}
		}
	}
	return kinds
}

// describe names the object in a message.
func (it *item) describe() string {
	name := kube.Object(it.Object.GetKind(), it.name)
	if it.namespace == "" {
		return name
	}
	return name + " in namespace " + it.namespace
}

// kubectlGet is the command that shows the object.
func (it *item) kubectlGet() string {
	command := "kubectl get " + it.GroupResource().String() + " " + it.name
	if it.namespace != "" {
		command += " --namespace " + it.namespace
	}
	return command + " --output yaml"
}
