package resource

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// LastWordTime is how long the last word about an object may take to be written.
const LastWordTime = 2 * time.Second

// LastWord is the context in which it is written that something took too long; nil if
// that is not why ctx has ended: a pass that was interrupted, or has lost the lock, knows nothing
// of the object that would be worth writing.
func LastWord(ctx context.Context) (context.Context, context.CancelFunc) {
	if fault.CodeOf(context.Cause(ctx)) != fault.DeadlineExceeded {
		return nil, nil
	}
	return context.WithTimeout(context.WithoutCancel(ctx), LastWordTime)
}

// Objects reads and writes bundles and instances.
type Objects struct{ Client dynamic.Interface }

// Instance reads an instance; nil if there is none.
func (o Objects) Instance(ctx context.Context, name string) (*v1alpha1.Instance, error) {
	return get[v1alpha1.Instance](ctx, o.Client, v1alpha1.Instances(), name)
}

// Bundle reads a bundle; nil if there is none.
func (o Objects) Bundle(ctx context.Context, name string) (*v1alpha1.Bundle, error) {
	return get[v1alpha1.Bundle](ctx, o.Client, v1alpha1.Bundles(), name)
}

// page is how many objects are read at a time.
const page = 500

// Instances are all of them.
func (o Objects) Instances(ctx context.Context) ([]v1alpha1.Instance, error) {
	return list[v1alpha1.Instance](ctx, o.Client, v1alpha1.Instances(), "")
}

// Bundles are all of them, or those of an instance.
func (o Objects) Bundles(ctx context.Context, instance string) ([]v1alpha1.Bundle, error) {
	selector := ""
	if instance != "" {
		selector = v1alpha1.LabelOwnerKind + "=" + v1alpha1.KindInstance + "," + v1alpha1.LabelOwnerName + "=" +
			instance
	}
	return list[v1alpha1.Bundle](ctx, o.Client, v1alpha1.Bundles(), selector)
}

// SetInstanceStatus writes the status of the very version that was read.
func (o Objects) SetInstanceStatus(ctx context.Context, in *v1alpha1.Instance) error {
	in.TypeMeta = TypeMeta(v1alpha1.KindInstance)
	return setStatus(ctx, o.Client, v1alpha1.Instances(), in)
}

// SetBundleStatus writes the status of the very version that was read.
func (o Objects) SetBundleStatus(ctx context.Context, b *v1alpha1.Bundle) error {
	b.TypeMeta = TypeMeta(v1alpha1.KindBundle)
	return setStatus(ctx, o.Client, v1alpha1.Bundles(), b)
}

// CreateBundle creates a bundle, and reads what became of it.
func (o Objects) CreateBundle(ctx context.Context, b *v1alpha1.Bundle) error {
	b.TypeMeta = TypeMeta(v1alpha1.KindBundle)
	object, err := Encode(b)
	if err != nil {
		return err
	}
	unstructured.RemoveNestedField(object.Object, "status")
	made, err := create(ctx, o.Client, v1alpha1.Bundles(), object, "")
	if err != nil {
		return err // the caller asks whether it exists
	}
	*b = v1alpha1.Bundle{}
	return Decode(made, b)
}

// DeleteBundle deletes this very bundle. That it is gone is not an error.
func (o Objects) DeleteBundle(ctx context.Context, b *v1alpha1.Bundle) error {
	return remove(ctx, o.Client, v1alpha1.Bundles(), b.ObjectMeta)
}

// DeleteInstance deletes this very instance. That it is gone is not an error.
func (o Objects) DeleteInstance(ctx context.Context, in *v1alpha1.Instance) error {
	return remove(ctx, o.Client, v1alpha1.Instances(), in.ObjectMeta)
}

// How often an object is created whose kind the API server does not serve yet, and for
// how long: a kind has been defined a moment ago.
const (
	servedPoll = 100 * time.Millisecond
	servedTime = 10 * time.Second
)

func create(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource,
	object *unstructured.Unstructured, validation string,
) (made *unstructured.Unstructured, err error) {
	_ = wait.PollUntilContextTimeout(ctx, servedPoll, servedTime, true, func(ctx context.Context) (bool, error) {
		made, err = client.Resource(resource).
			Create(ctx, object, metav1.CreateOptions{FieldManager: kube.FieldManager, FieldValidation: validation})
		return !apierrors.IsNotFound(err), nil
	})
	return made, err
}

// TypeMeta is that of a kind of this API, which objects have that are written.
func TypeMeta(kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: kind}
}

// Call is a request about an object, as errors name it.
func Call(verb string, resource schema.GroupVersionResource, name string) kube.Call {
	return kube.Call{Verb: verb, Resource: resource.GroupResource().String(), Name: name}
}

func get[T any](ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource, name string) (*T,
	error,
) {
	object, err := client.Resource(resource).Get(ctx, name, metav1.GetOptions{})
	switch {
	case kube.IsNoObject(err):
		return nil, nil
	case err != nil:
		return nil, kube.Fault(err, Call("get", resource, name))
	}
	t := new(T)
	return t, Decode(object, t)
}

func list[T any](ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource,
	selector string,
) (all []T, err error) {
	options := metav1.ListOptions{LabelSelector: selector, Limit: page}
	for {
		found, err := client.Resource(resource).List(ctx, options)
		if err != nil {
			return nil, kube.Fault(err, Call("list", resource, ""))
		}
		for i := range found.Items {
			var t T
			if err := Decode(&found.Items[i], &t); err != nil {
				return nil, err
			}
			all = append(all, t)
		}
		if options.Continue = found.GetContinue(); options.Continue == "" {
			return slices.Clip(all), nil
		}
	}
}

func setStatus(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource,
	object metav1.Object,
) error {
	sent, err := Encode(object)
	if err != nil {
		return err
	}
	made, err := client.Resource(resource).UpdateStatus(ctx, sent,
		metav1.UpdateOptions{FieldManager: kube.FieldManager})
	if err != nil {
		return kube.Fault(err, kube.Call{
			Verb: "update", Resource: resource.GroupResource().String() + "/status",
			Name: object.GetName(),
		})
	}
	object.SetResourceVersion(made.GetResourceVersion())
	return nil
}

func remove(ctx context.Context, client dynamic.Interface, resource schema.GroupVersionResource,
	meta metav1.ObjectMeta,
) error {
	err := client.Resource(resource).
		Delete(ctx, meta.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &meta.UID}})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) { // another one has its name
		return nil
	}
	return kube.Fault(err, Call("delete", resource, meta.Name))
}

// Encode makes an object what the dynamic client sends.
func Encode(object any) (*unstructured.Unstructured, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	u := &unstructured.Unstructured{}
	err = u.UnmarshalJSON(text)
	return u, err
}

// Decode reads an object of the cluster. Somebody else's definition of the kind may have
// let in what does not fit.
func Decode(object *unstructured.Unstructured, into any) error {
	text, err := object.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", kube.Object(object.GetKind(), object.GetName()), err)
	}
	return nil
}
