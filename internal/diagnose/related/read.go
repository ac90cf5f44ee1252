package related

import (
	"context"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// patience is how long all of the reading may take: a diagnosis does not wait for it.
const patience = 3 * time.Second

// pageSize is how many objects are listed at a time: a Workload has the whole template of its pods.
const pageSize = 250

// Read reads objects, and returns what they say. Unread are the permissions that the caller does not have.
func Read(ctx context.Context, client dynamic.Interface, refs []Reference) (says []v1.Warning, unread []string) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for _, r := range refs {
		o, err := r.read(ctx, client)
		switch {
		case apierrors.IsForbidden(err):
			if call := r.call().String(); !slices.Contains(unread, call) {
				unread = append(unread, call)
			}
		case apierrors.IsNotFound(err) && r.name != "":
			object := kube.Object(r.kind.name, r.name)
			says = append(says, v1.Warning{
				Reason: "NotFound", Message: object + " does not exist", Object: object, Count: 1,
			})
		case err == nil && o != nil:
			if w := Says(r.kind, o); w != nil {
				says = append(says, *w)
			}
		}
	}
	return says, unread
}

func (r Reference) call() kube.Call {
	call := kube.Call{Verb: "get", Resource: r.kind.resource + "." + r.kind.group, Namespace: r.namespace}
	if r.name == "" {
		call.Verb = "list"
	}
	if r.kind.everywhere {
		call.Namespace = ""
	}
	return call
}

// read asks for the object in the versions that its kind has had. NotFound is the object, not its kind.
func (r Reference) read(ctx context.Context, client dynamic.Interface) (*unstructured.Unstructured, error) {
	for _, version := range r.kind.versions {
		resource := schema.GroupVersionResource{Group: r.kind.group, Version: version, Resource: r.kind.resource}
		in := dynamic.ResourceInterface(client.Resource(resource))
		if !r.kind.everywhere {
			in = client.Resource(resource).Namespace(r.namespace)
		}
		o, err := r.in(ctx, in)
		if !apierrors.IsNotFound(err) || kube.IsNoObject(err) { // or this version has no such kind
			return o, err
		}
	}
	return nil, nil
}

func (r Reference) in(ctx context.Context, in dynamic.ResourceInterface) (*unstructured.Unstructured, error) {
	if r.name != "" {
		return in.Get(ctx, r.name, metav1.GetOptions{})
	}
	for options := (metav1.ListOptions{Limit: pageSize}); ; {
		list, err := in.List(ctx, options)
		if err != nil {
			return nil, err
		}
		for i := range list.Items {
			if o := &list.Items[i]; r.isOwned(o) && !isFinished(o) {
				return o, nil
			}
		}
		if options.Continue = list.GetContinue(); options.Continue == "" {
			return nil, nil
		}
	}
}

// isOwned is true for an object of one of the owners.
func (r Reference) isOwned(o *unstructured.Unstructured) bool {
	return slices.ContainsFunc(o.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
		return slices.Contains(r.owners, owner.UID)
	})
}
