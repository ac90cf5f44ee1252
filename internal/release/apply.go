package release

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// fieldManager is the name under which berth owns fields of objects.
const fieldManager = "berth"

// How often an object that is going is looked at, and for how long.
const (
	goingPoll = 200 * time.Millisecond
	goingTime = 30 * time.Second
)

// Applier creates and removes the objects of one release.
type Applier struct {
	Dynamic         dynamic.Interface
	Name, Namespace string
	// Told is told of each object whether it was made, or was there before. It is
	// called from several goroutines; nil is allowed.
	Told func(object *unstructured.Unstructured, made bool)
	// Private are objects of the release that its record must not have: see
	// applyPrivate.
	Private []*unstructured.Unstructured
	// Loose is set for objects of no release: they belong to the workspace whose
	// canonical ID they carry, and Helm's marks would be a lie.
	Loose bool
}

// Apply creates the objects in two waves: everything but workloads and pods
// side by side, then those, so that no pod waits for its ConfigMap. An object
// that the release already has, from a run that was cut off, is brought up to
// date. It returns the objects as the cluster has them, in the same order.
func (a Applier) Apply(ctx context.Context, objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
	made := make([]*unstructured.Unstructured, len(objects))
	for _, workloads := range []bool{false, true} {
		if workloads {
			if err := a.applyPrivate(ctx, made); err != nil {
				return nil, err
			}
		}
		group, groupCtx := errgroup.WithContext(ctx)
		for i, object := range objects {
			if kube.IsWorkload(object.GroupVersionKind()) != workloads {
				continue
			}
			group.Go(func() (err error) {
				made[i], err = a.create(groupCtx, object)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// create makes one object. One of its name that is just going is waited for:
// a claim outlives the pod that used it by a moment.
func (a Applier) create(ctx context.Context, object *unstructured.Unstructured) (made *unstructured.Unstructured, err error) {
	resource, call, err := a.resource(object, "create")
	if err != nil {
		return nil, err
	}
	object = a.mark(object)
	err = wait.PollUntilContextTimeout(ctx, goingPoll, goingTime, true, func(ctx context.Context) (done bool, err error) {
		made, err = resource.Create(ctx, object, metav1.CreateOptions{FieldManager: fieldManager})
		if !apierrors.IsAlreadyExists(err) {
			a.tell(made, err == nil)
			return true, kube.Fault(err, call)
		}
		a.tell(object, false)
		made, err = a.update(ctx, resource, object)
		return made != nil, err
	})
	if wait.Interrupted(err) && ctx.Err() == nil {
		return nil, fault.New(fault.Conflict, "%s in namespace %s is being deleted, and that does not end",
			kube.Object(object.GetKind(), object.GetName()), a.Namespace).
			WithHint("see what holds it: kubectl get %s %s --namespace %s --output yaml", object.GetKind(), object.GetName(), a.Namespace)
	}
	return made, err
}

// tell tells of an object, unless it could not be made: then nobody knows.
func (a Applier) tell(object *unstructured.Unstructured, made bool) {
	if a.Told != nil && object != nil {
		a.Told(object, made)
	}
}

// update takes over an object that this release made before. It returns nothing
// if the object is gone or going.
func (a Applier) update(ctx context.Context, resource dynamic.ResourceInterface, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	_, call, err := a.resource(object, "get")
	if err != nil {
		return nil, err
	}
	current, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, kube.Fault(err, call)
	}
	if err := a.mine(current); err != nil {
		return nil, err
	}
	if current.GetDeletionTimestamp() != nil {
		return nil, nil
	}
	if isFixed(object) {
		return current, nil
	}
	// As a whole: what the new one does not have, such as the script of an older
	// blueprint, shall be gone.
	object = object.DeepCopy()
	object.SetResourceVersion(current.GetResourceVersion())
	call.Verb = "update"
	made, err := resource.Update(ctx, object, metav1.UpdateOptions{FieldManager: fieldManager})
	return made, kube.Fault(err, call)
}

// resource is where an object's API is, and what a call to it is named.
func (a Applier) resource(object *unstructured.Unstructured, verb string) (dynamic.ResourceInterface, kube.Call, error) {
	kind := object.GroupVersionKind()
	r, ok := kube.ResourceOf(kind)
	if !ok {
		return nil, kube.Call{}, fault.New(fault.Internal, "the chart has a %s, which berth does not know how to address", kind)
	}
	call := kube.Call{Verb: verb, Resource: r.GroupResource().String(), Namespace: a.Namespace, Name: object.GetName()}
	return a.Dynamic.Resource(r.GroupVersionResource).Namespace(a.Namespace), call, nil
}
