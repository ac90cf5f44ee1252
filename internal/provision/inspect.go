package provision

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// Inspect reads one workspace in full: its pod and what Kubernetes has said
// about it. A release whose pod is gone is a workspace in stage Unknown.
func (p *Provisioner) Inspect(ctx context.Context, arg string) (*v1.Workspace, error) {
	target, err := p.Find(ctx, arg)
	if err != nil {
		return nil, err
	}
	if target.found.workload != nil {
		return p.in(target.Namespace).inspectInjected(ctx, target)
	}
	id, f := target.ID, target.found
	if f.pod == nil {
		return &v1.Workspace{
			TypeMeta: v1.Kind(v1.KindWorkspace), ID: id, Namespace: target.Namespace,
			Snapshot: v1.Snapshot{
				Stage: v1.StageUnknown, Status: v1.StatusUnknown,
				Message: "installed, but its pod is gone; provision it again",
			},
		}, nil
	}
	around, err := p.around(ctx, f.pod)
	if err != nil {
		return nil, err
	}
	w := describe(f.pod, p.read(f.pod, around...))
	return &w, nil
}

// around are the events about a pod and its claims, and the claims.
func (p *Provisioner) around(ctx context.Context, pod *corev1.Pod) (objects []runtime.Object, err error) {
	core := p.Client.CoreV1()
	about := []string{pod.Name}
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		name := volume.PersistentVolumeClaim.ClaimName
		claim, err := core.PersistentVolumeClaims(pod.Namespace).Get(ctx, name, metav1.GetOptions{})
		if err = kube.Fault(err, kube.Call{Verb: "get", Resource: "persistentvolumeclaims", Namespace: pod.Namespace, Name: name}); isNotFound(err) {
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

// eventsOf are the events about those pods that are waiting for something: what
// that is, and whether it is in vain, does not stand in their status yet.
func (p *Provisioner) eventsOf(ctx context.Context, namespace string, pods []corev1.Pod) (map[types.UID][]runtime.Object, error) {
	events := map[types.UID][]runtime.Object{}
	for i := range pods {
		if p.needsEvents(p.read(&pods[i])) {
			events[pods[i].UID] = nil
		}
	}
	if len(events) == 0 {
		return nil, nil
	}
	list, err := p.Client.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("involvedObject.kind", "Pod").String(),
	})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "events", Namespace: namespace})
	}
	for i := range list.Items {
		uid := list.Items[i].InvolvedObject.UID
		if _, waiting := events[uid]; waiting {
			events[uid] = append(events[uid], &list.Items[i])
		}
	}
	return events, nil
}

// List reads all workspaces of a namespace, or of all namespaces if it is
// empty. It takes one request, and another if the events are needed to say how
// one stands that is not running.
func (p *Provisioner) List(ctx context.Context, namespace string) (*v1.WorkspaceList, error) {
	pods, err := p.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: kube.LabelCanonicalID})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: namespace})
	}
	events, err := p.eventsOf(ctx, namespace, pods.Items)
	if err != nil {
		return nil, err
	}
	list := &v1.WorkspaceList{TypeMeta: v1.Kind(v1.KindWorkspaceList), Items: []v1.Workspace{}}
	for _, pods := range together(pods.Items) {
		readings := make([]v1.Snapshot, len(pods))
		for i, pod := range pods {
			readings[i] = p.read(pod, events[pod.UID]...)
		}
		list.Items = append(list.Items, describeAll(pods, readings))
	}
	slices.SortFunc(list.Items, func(a, b v1.Workspace) int {
		return strings.Compare(a.Namespace+"/"+a.ID, b.Namespace+"/"+b.ID)
	})
	return list, nil
}
