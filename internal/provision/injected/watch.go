package injected

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Watch opens the watches of the workload, its ReplicaSets, the pods that have
// the workspace, the claims, and the events about all of them.
func (t Target) Watch(ctx context.Context, found inventory.Found, d deploy.Deployment) (*follow.Follower, error) {
	ns, core, claims := t.Client.Namespace, t.Client.CoreV1(), d.Claims()
	subject := workload.Subject(ns, t.Ref)
	pods := follow.SelectedSource[*corev1.Pod](follow.Client(core.Pods(ns)), "pods", ns, workload.Selector(t.ID))
	// A pod that somebody has given the labels never goes with the workspace.
	selected := pods.Covers
	pods.Covers = func(o metav1.Object) bool {
		pod, ok := o.(*corev1.Pod)
		return ok && selected(o) && kube.IsOfWorkspace(&pod.ObjectMeta)
	}
	list, err := core.Pods(ns).List(ctx, metav1.ListOptions{LabelSelector: pods.Labels})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: ns})
	}
	// Without the list, that there is no pod could mean that none has been reported yet.
	pods.Version = list.ResourceVersion
	for i := range list.Items {
		if pod := &list.Items[i]; kube.IsOfWorkspace(&pod.ObjectMeta) {
			pods.Listed = append(pods.Listed, pod)
		}
	}
	sources := []follow.Source{
		pods,
		follow.OffspringEventSource(follow.Client(core.Events(ns)), subject, claims...),
	}
	if len(claims) > 0 {
		sources = append(sources, follow.ClaimSource(follow.Client(core.PersistentVolumeClaims(ns)), ns, claims...))
	}
	if found.Workload.Object != nil {
		more, err := t.controllers(found.Workload, subject)
		if err != nil {
			return nil, err
		}
		sources = append(sources, more...)
	}
	f, err := follow.Open(ctx, subject, sources...)
	if err == nil {
		f.ReadNodes(core.Nodes())
	}
	return f, err
}

// controllers are the sources of the workload itself and of what it makes its
// pods with.
func (t Target) controllers(w *workload.Workload, subject watch.Subject) ([]follow.Source, error) {
	apps, ns := t.Client.AppsV1(), t.Client.Namespace
	known, err := w.Typed()
	if err != nil {
		return nil, err
	}
	_, resource := workload.Kind(w.Ref)
	switch subject.Kind {
	case watch.KindStatefulSet:
		return []follow.Source{follow.WorkloadSource(follow.Client(apps.StatefulSets(ns)), subject, resource, known)}, nil
	case watch.KindDaemonSet:
		return []follow.Source{follow.WorkloadSource(follow.Client(apps.DaemonSets(ns)), subject, resource, known)}, nil
	}
	selector, err := w.PodSelector()
	return []follow.Source{
		follow.WorkloadSource(follow.Client(apps.Deployments(ns)), subject, resource, known),
		follow.SelectedSource[*appsv1.ReplicaSet](follow.Client(apps.ReplicaSets(ns)), "replicasets", ns, selector),
	}, err
}
