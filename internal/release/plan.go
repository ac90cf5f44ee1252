package release

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Action is what would be done with an object.
type Action string

// The actions of a plan.
const (
	ActionCreate Action = "create"
	ActionUpdate Action = "update"
	ActionDelete Action = "delete"
)

// Change is one thing that a dry run would do.
type Change struct {
	Action Action
	Object *unstructured.Unstructured
}

// Planner finds out what an Applier would do, without doing it.
type Planner struct {
	Applier
	// Server sends every change to the API server, to be checked by quota,
	// admission and pod security and not to be kept; what it answers is what is
	// shown.
	Server bool
}

// Apply is what applying the release would change. What cannot be changed in
// place, a pod or a claim that is there, is not in it.
func (p Planner) Apply(ctx context.Context, objects []*unstructured.Unstructured) ([]Change, error) {
	var changes []Change
	for _, object := range append(append([]*unstructured.Unstructured{}, objects...), p.Private...) {
		change, err := p.plan(ctx, p.mark(object), p.next)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change...)
	}
	return changes, nil
}

// Share is what sharing the namespace's objects would change.
func (p Planner) Share(ctx context.Context, objects []*unstructured.Unstructured) ([]Change, error) {
	var changes []Change
	for _, object := range objects {
		change, err := p.plan(ctx, common(object, p.Namespace), refreshed)
		if err != nil {
			return nil, err
		}
		changes = append(changes, change...)
	}
	return changes, nil
}

// Remove is what removing the objects would delete: those that there are.
func (p Planner) Remove(ctx context.Context, objects []*unstructured.Unstructured) ([]Change, error) {
	var changes []Change
	for _, object := range objects {
		resource, call, err := p.resource(object, "get")
		if err != nil {
			return nil, err
		}
		current, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
		if err == nil && p.Server {
			call.Verb = "delete"
			err = resource.Delete(ctx, object.GetName(), metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
		}
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, kube.Fault(err, call)
		}
		changes = append(changes, Change{ActionDelete, current})
	}
	return changes, nil
}

// plan decides about one object; next is what one that exists becomes.
func (p Planner) plan(ctx context.Context, object *unstructured.Unstructured, next func(current, wanted *unstructured.Unstructured) (*unstructured.Unstructured, bool, error)) ([]Change, error) {
	resource, call, err := p.resource(object, "get")
	if err != nil {
		return nil, err
	}
	current, err := resource.Get(ctx, object.GetName(), metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return p.send(ctx, Change{ActionCreate, object}, resource, call)
	}
	if err != nil {
		return nil, kube.Fault(err, call)
	}
	wanted, changed, err := next(current, object)
	if err != nil || !changed {
		return nil, err
	}
	return p.send(ctx, Change{ActionUpdate, wanted}, resource, call)
}

// send lets the API server check a change, if that is wanted.
func (p Planner) send(ctx context.Context, c Change, resource dynamic.ResourceInterface, call kube.Call) ([]Change, error) {
	if !p.Server {
		return []Change{c}, nil
	}
	var err error
	dry := []string{metav1.DryRunAll}
	answer := c
	call.Verb = string(c.Action)
	if c.Action == ActionCreate {
		answer.Object, err = resource.Create(ctx, c.Object, metav1.CreateOptions{FieldManager: fieldManager, DryRun: dry})
	} else {
		answer.Object, err = resource.Update(ctx, c.Object, metav1.UpdateOptions{FieldManager: fieldManager, DryRun: dry})
	}
	return []Change{answer}, kube.Fault(err, call)
}

// next is what an object of the release that exists becomes.
func (p Planner) next(current, wanted *unstructured.Unstructured) (*unstructured.Unstructured, bool, error) {
	if err := p.mine(current); err != nil {
		return nil, false, err
	}
	if isFixed(wanted) {
		return current, false, nil
	}
	wanted = wanted.DeepCopy()
	wanted.SetResourceVersion(current.GetResourceVersion())
	return wanted, true, nil
}

// mine refuses an object that does not belong to the release.
func (a Applier) mine(current *unstructured.Unstructured) error {
	if a.owns(current) {
		return nil
	}
	return fault.New(fault.Conflict, "%s in namespace %s exists and does not belong to this workspace",
		kube.Object(current.GetKind(), current.GetName()), a.Namespace).
		WithHint("rename or delete it, then try again")
}

// isFixed is true for what cannot be changed in place.
func isFixed(object *unstructured.Unstructured) bool {
	return kube.IsWorkload(object.GroupVersionKind()) || object.GetKind() == "PersistentVolumeClaim"
}
