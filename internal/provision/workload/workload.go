// Package workload reads the workloads that workspaces are injected into, and
// what is in the cluster of such a workspace. It writes nothing.
package workload

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes/scheme"

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
	// Record is the record of the injection on it; nil if nothing is injected.
	Record *injection.Record
}

// Injected is true if the workspace is in the workload.
func (w *Workload) Injected() bool {
	return w != nil && w.Record != nil && w.Record.CanonicalID == w.ID
}

// Job is the job of the pods of the newest revision; empty if none is injected.
func (w *Workload) Job() string { return JobOf(w.Object) }

// JobOf is Job of a workload as the API server has it.
func JobOf(object map[string]any) string {
	job, _, _ := unstructured.NestedString(object, "spec", "template", "metadata", "labels", kube.LabelJobID)
	return job
}

// Kind is the kind of a workload, and its plural.
func Kind(ref userstring.Workload) (kind, resource string) {
	kinds := map[string]string{
		"deployment": watch.KindDeployment, "statefulset": watch.KindStatefulSet, "daemonset": watch.KindDaemonSet,
	}
	return kinds[ref.Kind], ref.Kind + "s"
}

// Subject is a workload of a namespace as the analyzer names it.
func Subject(namespace string, ref userstring.Workload) watch.Subject {
	kind, _ := Kind(ref)
	return watch.Subject{Kind: kind, Namespace: namespace, Name: ref.Name}
}

// API is where workloads of a kind are in the API.
func API(client *kube.Client, ref userstring.Workload) dynamic.ResourceInterface {
	_, resource := Kind(ref)
	gvr := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
	return client.Dynamic.Resource(gvr).Namespace(client.Namespace)
}

// Call describes a call to the API about a workload, for errors.
func Call(verb, namespace string, ref userstring.Workload) kube.Call {
	_, resource := Kind(ref)
	return kube.Call{Verb: verb, Resource: resource + ".apps", Namespace: namespace, Name: ref.Name}
}

// Read gets a workload and what is recorded on it. One that does not exist is no
// error: something of the workspace may have outlived it.
func Read(ctx context.Context, client *kube.Client, id string, ref userstring.Workload) (*Workload, error) {
	object, err := API(client, ref).Get(ctx, ref.Name, metav1.GetOptions{})
	if err = kube.Fault(err, Call("get", client.Namespace, ref)); fault.CodeOf(err) == fault.NotFound {
		return &Workload{Ref: ref, ID: id}, nil
	} else if err != nil {
		return nil, err
	}
	return Of(id, ref, object)
}

// Of is a workload as the API server has it.
func Of(id string, ref userstring.Workload, object *unstructured.Unstructured) (*Workload, error) {
	record, err := injection.RecordOf(object.GetAnnotations())
	if err != nil {
		err = fault.New(fault.CodeOf(err), "%s in namespace %s: %w", ref, object.GetNamespace(), err).
			WithHint("restore the annotation; or take what is named %s-… out of the template (kubectl edit %s --namespace %s), remove the annotation (kubectl annotate %s --namespace %s %s-), and delete the workspace, which removes the rest",
				id, ref, object.GetNamespace(), ref, object.GetNamespace(), kube.AnnotationInjection)
	}
	return &Workload{Ref: ref, ID: id, Object: object.Object, Record: record}, err
}

// Typed is the workload as the analyzer reads it; nil if it is gone.
func (w *Workload) Typed() (metav1.Object, error) {
	if w.Object == nil {
		return nil, nil
	}
	kind, _ := Kind(w.Ref)
	object, err := scheme.Scheme.New(appsv1.SchemeGroupVersion.WithKind(kind))
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(w.Object, object)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "cannot read %s: %w", w.Ref, err)
	}
	return meta.Accessor(object)
}

// PodSelector selects the pods of the workload, and the ReplicaSets of a
// Deployment.
func (w *Workload) PodSelector() (labels.Selector, error) {
	content, _, _ := unstructured.NestedMap(w.Object, "spec", "selector")
	var selector metav1.LabelSelector
	err := runtime.DefaultUnstructuredConverter.FromUnstructured(content, &selector)
	if err != nil {
		return nil, fault.New(fault.Internal, "cannot read the selector of %s: %w", w.Ref, err)
	}
	return metav1.LabelSelectorAsSelector(&selector)
}
