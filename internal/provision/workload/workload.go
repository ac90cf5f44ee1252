// Package workload reads the workloads that workspaces are injected into, and
// what is in the cluster of such a workspace. It writes nothing.
package workload

import (
	"cmp"
	"context"
	"slices"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
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

// Job is the job of the pods of the newest revision; empty if no job is injected.
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
			WithHint("restore the annotation; or take what is named %s-… out of the template (kubectl edit %s "+
				"--namespace %s), remove the annotation (kubectl annotate %s --namespace %s %s-), and delete the "+
				"workspace, which removes the rest",
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

// Objects are the ConfigMaps and claims of an injected workspace as they are, found by
// their labels: each says itself that it belongs to it. What is shared carries no
// canonical ID; a claim that has outlived the workspace is nobody's until it is used
// again.
func Objects(ctx context.Context, client *kube.Client, id string) ([]*unstructured.Unstructured, error) {
	core, ns, opts := client.CoreV1(), client.Namespace,
		metav1.ListOptions{LabelSelector: Selector(id).String() + "," + kube.LabelKept + "!=true"}
	var maps, claims []*unstructured.Unstructured
	var mapsErr, claimsErr error
	var both sync.WaitGroup
	both.Go(func() {
		list, err := core.ConfigMaps(ns).List(ctx, opts)
		if mapsErr = kube.Fault(err, kube.Call{Verb: "list", Resource: "configmaps", Namespace: ns}); err == nil {
			maps, mapsErr = kube.UntypedList("ConfigMap", list.Items)
		}
	})
	both.Go(func() {
		list, err := core.PersistentVolumeClaims(ns).List(ctx, opts)
		if claimsErr = kube.Fault(err,
			kube.Call{Verb: "list", Resource: "persistentvolumeclaims", Namespace: ns}); err == nil {
			claims, claimsErr = kube.UntypedList("PersistentVolumeClaim", list.Items)
		}
	})
	both.Wait()
	return slices.Concat(maps, claims), cmp.Or(mapsErr, claimsErr)
}

// Selector selects whatever carries the canonical ID of a workspace in a workload.
func Selector(id string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{kube.LabelCanonicalID: kube.LabelValue(id), kube.LabelInjected: "true"})
}

// Pods are the pods that have the workspace and are not terminating, the one to
// enter first at the front.
func Pods(ctx context.Context, client *kube.Client, id string) ([]*corev1.Pod, error) {
	all, err := List(ctx, client, id)
	return preferred(all), err
}

// List lists the pods that have the workspace.
func List(ctx context.Context, client *kube.Client, id string) ([]*corev1.Pod, error) {
	list, err := client.CoreV1().Pods(client.Namespace).List(ctx,
		metav1.ListOptions{LabelSelector: Selector(id).String()})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: client.Namespace})
	}
	var pods []*corev1.Pod
	for i := range list.Items {
		if pod := &list.Items[i]; kube.IsOfWorkspace(&pod.ObjectMeta) {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}

// preferred orders pods by how well they can be entered: those that are ready
// before the others, the newest first. Those that are terminating are left out.
func preferred(all []*corev1.Pod) []*corev1.Pod {
	pods := slices.DeleteFunc(slices.Clone(all), func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(
			-cmp.Compare(rank(a), rank(b)),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return pods
}

func rank(pod *corev1.Pod) int {
	if kube.IsReady(pod) {
		return 1
	}
	return 0
}
