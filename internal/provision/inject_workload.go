package provision

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

// workload is a workload that a workspace is or is to be injected into.
type workload struct {
	ref userstring.Workload
	id  string // of the workspace
	// object is the workload as the API server has it; nil if it is gone. It stays
	// untyped: a field that this version of berth does not know is a field too.
	object map[string]any
	// record is what stands on it; nil if nothing is injected.
	record *injection.Record
	// objects are the number of ConfigMaps and claims that the workspace has.
	objects int
	// stale is true if the workspace that is injected is not what it would be made
	// of now.
	stale bool
}

// injected is true if the workspace is in the workload.
func (w *workload) injected() bool {
	return w != nil && w.record != nil && w.record.CanonicalID == w.id
}

// job is the one that the pods of the newest revision are of; empty if none is
// injected.
func (w *workload) job() string {
	job, _, _ := unstructured.NestedString(w.object, "spec", "template", "metadata", "labels", kube.LabelJobID)
	return job
}

// holds is true if anything of the workspace is there, be it what a killed run
// left.
func (w *workload) holds() bool { return w.injected() || w != nil && w.objects > 0 }

// kindOf is the kind of a workload, and its plural.
func kindOf(ref userstring.Workload) (kind, resource string) {
	kinds := map[string]string{
		"deployment": watch.KindDeployment, "statefulset": watch.KindStatefulSet, "daemonset": watch.KindDaemonSet,
	}
	return kinds[ref.Kind], ref.Kind + "s"
}

func (p *Provisioner) subject(ref userstring.Workload) watch.Subject {
	kind, _ := kindOf(ref)
	return watch.Subject{Kind: kind, Namespace: p.Client.Namespace, Name: ref.Name}
}

// api is where a workload is in the API, and what a call to it is named.
func (p *Provisioner) api(ref userstring.Workload, verb string) (dynamic.ResourceInterface, kube.Call) {
	_, resource := kindOf(ref)
	gvr := schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: resource}
	call := kube.Call{Verb: verb, Resource: gvr.GroupResource().String(), Namespace: p.Client.Namespace, Name: ref.Name}
	return p.Client.Dynamic.Resource(gvr).Namespace(p.Client.Namespace), call
}

// readWorkload gets a workload and what stands on it. One that is not there is
// no error: something of the workspace may have outlived it.
func (p *Provisioner) readWorkload(ctx context.Context, id string, ref userstring.Workload) (*workload, error) {
	w := &workload{ref: ref, id: id}
	api, call := p.api(ref, "get")
	object, err := api.Get(ctx, ref.Name, metav1.GetOptions{})
	if err = kube.Fault(err, call); isNotFound(err) {
		return w, nil
	} else if err != nil {
		return nil, err
	}
	w.object = object.Object
	w.record, err = injection.RecordOf(object.GetAnnotations())
	return w, err
}

// typed is the workload as the analyzer wants it.
func (w *workload) typed() (metav1.Object, error) {
	if w.object == nil {
		return nil, nil
	}
	var object metav1.Object
	switch w.ref.Kind {
	case "deployment":
		object = &appsv1.Deployment{}
	case "statefulset":
		object = &appsv1.StatefulSet{}
	default:
		object = &appsv1.DaemonSet{}
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(w.object, object); err != nil {
		return nil, fault.New(fault.Internal, "%s cannot be read: %w", w.ref, err)
	}
	return object, nil
}

// selector selects the pods of the workload, and the ReplicaSets of a Deployment.
func (w *workload) selector() (labels.Selector, error) {
	object, err := w.typed()
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
		return nil, fault.New(fault.Internal, "the selector of %s cannot be read: %w", w.ref, err)
	}
	return s, nil
}

// ours selects whatever carries the workspace's canonical ID.
func ours(id string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{kube.LabelCanonicalID: kube.LabelValue(id), kube.LabelInjected: "true"})
}
