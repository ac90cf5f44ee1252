package inventory

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// Inspect reads one workspace in full: its pod, or the pods that it is injected
// into, and what Kubernetes has said about them. A release whose pod is gone is a
// workspace in stage Unknown.
func (r Reader) Inspect(ctx context.Context, arg Argument) (*v1.Workspace, error) {
	return r.inspectArg(ctx, arg, false)
}

// InspectWithEvents is Inspect with what Kubernetes has said as part of the
// answer.
func (r Reader) InspectWithEvents(ctx context.Context, arg Argument) (*v1.Workspace, error) {
	return r.inspectArg(ctx, arg, true)
}

func (r Reader) inspectArg(ctx context.Context, arg Argument, events bool) (*v1.Workspace, error) {
	target, err := r.Find(ctx, arg)
	if fault.CodeOf(err) == fault.NotFound {
		all := arg.candidates
		q := Query{Namespace: r.In(arg.Namespace).Client.Namespace, ID: all[len(all)-1].id, Events: events}
		return r.inspectInjected(ctx, q, err)
	}
	if err != nil {
		return nil, err
	}
	if target.Found.Workload != nil {
		return r.In(target.Namespace).inspectWorkload(ctx, target, events)
	}
	if target.Found.Pod == nil {
		pod, reading := target.Podless()
		w := Describe(&pod.ObjectMeta, reading)
		return &w, nil
	}
	return r.inspect(ctx, []*corev1.Pod{target.Found.Pod}, events)
}

// inspectInjected finds the pods of a workload, whose names are not the
// workspace's, by their label.
func (r Reader) inspectInjected(ctx context.Context, q Query, absent error) (*v1.Workspace, error) {
	opts, err := q.options()
	if err != nil {
		return nil, err
	}
	list, err := r.Client.CoreV1().Pods(q.Namespace).List(ctx, opts)
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: q.Namespace})
	}
	if len(list.Items) == 0 {
		return nil, absent
	}
	pods := make([]*corev1.Pod, len(list.Items))
	for i := range list.Items {
		pods[i] = &list.Items[i]
	}
	return r.inspect(ctx, pods, q.Events)
}

func (r Reader) inspect(ctx context.Context, pods []*corev1.Pod, events bool) (*v1.Workspace, error) {
	members := make([]member, len(pods))
	var about []runtime.Object
	for i, pod := range pods {
		around, err := r.around(ctx, pod)
		if err != nil {
			return nil, err
		}
		members[i] = memberOf(pod, r.Read(pod, around...))
		about = append(append(about, pod), around...)
	}
	w := combine(members)
	if events {
		w.Events = told(about)
	}
	return &w, nil
}

// told are the events among objects that are about others of them. They belong
// by UID: of an earlier pod of the same name they say nothing.
func told(objects []runtime.Object) []v1.ObjectEvent {
	present := map[types.UID]bool{}
	var events []*corev1.Event
	for _, object := range objects {
		switch o := object.(type) {
		case *corev1.Event:
			events = append(events, o)
		case metav1.Object:
			present[o.GetUID()] = true
		}
	}
	kept := events[:0]
	for _, e := range events {
		if present[e.InvolvedObject.UID] {
			kept = append(kept, e)
		}
	}
	return watch.ObjectEvents(kept)
}

// around are the events about a pod and its claims, and the claims.
func (r Reader) around(ctx context.Context, pod *corev1.Pod) (objects []runtime.Object, err error) {
	core := r.Client.CoreV1()
	about := []string{pod.Name}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		name := volume.PersistentVolumeClaim.ClaimName
		claim, err := core.PersistentVolumeClaims(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err = kube.Fault(err, kube.Call{Verb: "get", Resource: "persistentvolumeclaims", Namespace: pod.Namespace, Name: name}); fault.CodeOf(err) == fault.NotFound {
			continue
		} else if err != nil {
			return nil, err
		}
		objects, about = append(objects, claim), append(about, name)
	}
	for _, name := range about {
		events, err := core.Events(pod.Namespace).List(ctx, metav1.ListOptions{
			FieldSelector: fields.OneTermEqualSelector("involvedObject.name", name).String(),
		})
		if err != nil {
			return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "events", Namespace: pod.Namespace})
		}
		for i := range events.Items {
			objects = append(objects, &events.Items[i])
		}
	}
	return objects, nil
}
