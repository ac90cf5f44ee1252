package inventory

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/metadata"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// List reads the workspaces that fit a query. It takes one request for every
// 500 pods, and as many for the events if some of the pods are waiting. A page
// is read and let go, so that thousands of workspaces need little memory.
func (r Reader) List(ctx context.Context, q Query) (*v1.WorkspaceList, error) {
	opts, err := q.options()
	if err != nil {
		return nil, err
	}
	var members []member
	var waiting []*corev1.Pod
	err = eachPage(ctx, opts, r.Client.CoreV1().Pods(q.Namespace).List, func(page *corev1.PodList) {
		for i := range page.Items {
			pod := &page.Items[i]
			reading := r.Read(pod)
			if !r.needsEvents(reading) {
				members = append(members, memberOf(pod, reading))
				continue
			}
			kept := *pod // a pointer into the page would keep all of it
			kept.ManagedFields = nil
			waiting = append(waiting, &kept)
		}
	})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: q.Namespace})
	}
	events, err := r.eventsOf(ctx, q.Namespace, waiting)
	if err != nil {
		return nil, err
	}
	for _, pod := range waiting {
		members = append(members, memberOf(pod, r.Read(pod, events[pod.UID]...)))
	}
	return listOf(gather(members), q), nil
}

// Names reads the workspaces that fit a query without their stages: who they
// are stands in the metadata, which is a small part of a pod.
func (r Reader) Names(ctx context.Context, q Query) (*v1.WorkspaceList, error) {
	opts, err := q.options()
	if err != nil {
		return nil, err
	}
	client, err := metadata.NewForConfig(r.Client.Config)
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: q.Namespace})
	}
	var members []member
	pods := client.Resource(corev1.SchemeGroupVersion.WithResource("pods")).Namespace(q.Namespace)
	err = eachPage(ctx, opts, pods.List, func(page *metav1.PartialObjectMetadataList) {
		for _, pod := range page.Items {
			unread := v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown}
			members = append(members, memberOf(&corev1.Pod{ObjectMeta: pod.ObjectMeta}, unread))
		}
	})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: q.Namespace})
	}
	return listOf(gather(members), q), nil
}

// listOf is the list of those that fit, in the default order.
func listOf(workspaces []v1.Workspace, q Query) *v1.WorkspaceList {
	list := &v1.WorkspaceList{Items: make([]v1.Workspace, 0, len(workspaces))}
	for _, w := range workspaces {
		if q.has(w) {
			list.Items = append(list.Items, w)
		}
	}
	Sort(list.Items, ByDefault)
	return list
}

// eventsOf are the events about pods that are waiting for something: what that
// is, and whether it is in vain, does not stand in their status yet.
func (r Reader) eventsOf(ctx context.Context, namespace string, waiting []*corev1.Pod) (map[types.UID][]runtime.Object, error) {
	if len(waiting) == 0 {
		return nil, nil
	}
	events := make(map[types.UID][]runtime.Object, len(waiting))
	for _, pod := range waiting {
		events[pod.UID] = nil
	}
	opts := metav1.ListOptions{FieldSelector: fields.OneTermEqualSelector("involvedObject.kind", "Pod").String()}
	err := eachPage(ctx, opts, r.Client.CoreV1().Events(namespace).List, func(page *corev1.EventList) {
		for i := range page.Items {
			uid := page.Items[i].InvolvedObject.UID
			if _, wanted := events[uid]; wanted {
				kept := page.Items[i]
				kept.ManagedFields = nil
				events[uid] = append(events[uid], &kept)
			}
		}
	})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "events", Namespace: namespace})
	}
	return events, nil
}
