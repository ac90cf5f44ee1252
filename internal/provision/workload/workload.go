// Package workload is about a workload of the cluster that a workspace is in, or
// is to be put into: it is read, patched as it was seen, and watched. What is put
// into it is injection's to say.
package workload

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
)

// Workload is a Deployment, a StatefulSet or a DaemonSet that a workspace is or is to be injected into.
type Workload struct {
	Ref userstring.Workload
	ID  string // of the workspace
	// Object is the workload as the API server has it; nil if it is gone. It stays
	// untyped: a field that this version of berth does not know is a field too.
	Object map[string]any
	// Record is what stands on it; nil if nothing is injected.
	Record *injection.Record

	client *kube.Client
}

// Injected is true if the workspace is in the workload.
func (w *Workload) Injected() bool {
	return w != nil && w.Record != nil && w.Record.CanonicalID == w.ID
}

// Job is the one that the pods of the newest revision are of; empty if none is
// injected.
func (w *Workload) Job() string {
	job, _, _ := unstructured.NestedString(w.Object, "spec", "template", "metadata", "labels", kube.LabelJobID)
	return job
}

// Kind is the kind of a workload, and its plural.
func Kind(ref userstring.Workload) (kind, resource string) {
	kinds := map[string]string{
		"deployment": watch.KindDeployment, "statefulset": watch.KindStatefulSet, "daemonset": watch.KindDaemonSet,
	}
	return kinds[ref.Kind], ref.Kind + "s"
}

// Subject is what explains how a workload of a namespace stands.
func Subject(namespace string, ref userstring.Workload) watch.Subject {
	kind, _ := Kind(ref)
	return watch.Subject{Kind: kind, Namespace: namespace, Name: ref.Name}
}

// api is where a workload is in the API, and what a call to it is named.
func (w *Workload) api(verb string) (dynamic.ResourceInterface, kube.Call) {
	_, resource := Kind(w.Ref)
	gvr := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
	call := kube.Call{Verb: verb, Resource: gvr.GroupResource().String(), Namespace: w.client.Namespace, Name: w.Ref.Name}
	return w.client.Dynamic.Resource(gvr).Namespace(w.client.Namespace), call
}

// Read gets a workload and what stands on it. One that is not there is no error:
// something of the workspace may have outlived it.
func Read(ctx context.Context, client *kube.Client, id string, ref userstring.Workload) (*Workload, error) {
	w := &Workload{Ref: ref, ID: id, client: client}
	api, call := w.api("get")
	object, err := api.Get(ctx, ref.Name, metav1.GetOptions{})
	if err = kube.Fault(err, call); fault.CodeOf(err) == fault.NotFound {
		return w, nil
	} else if err != nil {
		return nil, err
	}
	w.Object = object.Object
	w.Record, err = injection.RecordOf(object.GetAnnotations())
	return w, err
}

// Typed is the workload as the analyzer wants it.
func (w *Workload) Typed() (metav1.Object, error) {
	if w.Object == nil {
		return nil, nil
	}
	var object metav1.Object
	switch w.Ref.Kind {
	case "deployment":
		object = &appsv1.Deployment{}
	case "statefulset":
		object = &appsv1.StatefulSet{}
	default:
		object = &appsv1.DaemonSet{}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.Object, object); err != nil {
		return nil, fault.New(fault.Internal, "%s cannot be read: %w", w.Ref, err)
	}
	return object, nil
}

// selector selects the pods of the workload, and the ReplicaSets of a Deployment.
func (w *Workload) selector() (labels.Selector, error) {
	object, err := w.Typed()
	if err != nil {
		return nil, err
	}
	var selector *metav1.LabelSelector
	switch o := object.(type) {
	case *appsv1.Deployment:
		selector = o.Spec.Selector
	case *appsv1.StatefulSet:
		selector = o.Spec.Selector
	case *appsv1.DaemonSet:
		selector = o.Spec.Selector
	}
	s, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		return nil, fault.New(fault.Internal, "the selector of %s cannot be read: %w", w.Ref, err)
	}
	return s, nil
}
