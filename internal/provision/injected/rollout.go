package injected

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
)

// leaving is the reading of a workspace that is being taken out of a workload:
// Terminating until the last pod that has it is gone.
func leaving(id string, pods []*corev1.Pod, now time.Time) v1.Snapshot {
	s := v1.Snapshot{Stage: v1.StageTerminating, Status: v1.StatusTerminating, Since: now}
	switch n := len(pods); n {
	case 0:
		return v1.Snapshot{Stage: v1.StageUnknown, Status: v1.StatusUnknown, Gone: true, Message: "taken out"}
	case 1:
		s.Message = "1 pod still has " + id
	default:
		s.Message = fmt.Sprintf("%d pods still have %s", n, id)
	}
	for _, pod := range pods {
		s.Replicas = append(s.Replicas, v1.Replica{Name: pod.Name, Stage: v1.StageTerminating, Node: pod.Spec.NodeName})
	}
	slices.SortFunc(s.Replicas, func(a, b v1.Replica) int { return strings.Compare(a.Name, b.Name) })
	return s
}

// warnIfPodsStay warns of pods that keep the workspace although it was taken out
// of the template, and says whether there are any.
func (t Target) warnIfPodsStay(w *workload.Workload) bool {
	why := whyPodsStay(w, t.Client.Namespace)
	if why != "" {
		t.Steps.Warn("NotRolledOut", w.Ref.String(), why)
	}
	return why != ""
}

// whyPodsStay is empty if they do not.
func whyPodsStay(w *workload.Workload, namespace string) string {
	paused, _, _ := unstructured.NestedBool(w.Object, "spec", "paused")
	strategy, _, _ := unstructured.NestedString(w.Object, "spec", "updateStrategy", "type")
	switch {
	case paused:
		return "the rollout of " + w.Ref.String() + " is paused: its pods keep the workspace until `" +
			fault.Command("kubectl", "rollout", "resume", w.Ref.String(), "--namespace", namespace) + "`"
	case strategy == "OnDelete":
		return fmt.Sprintf("%s replaces its pods only when they are deleted (updateStrategy OnDelete): they keep the "+
			"workspace until `kubectl delete pod NAME --namespace %s`", w.Ref, namespace)
	}
	return ""
}

// deleteStuckPods deletes the pods of a StatefulSet that have the workspace of
// another job, or of any if job is empty, and are not ready: the controller waits
// for them before it creates others.
func (t Target) deleteStuckPods(ctx context.Context, w *workload.Workload, job string) error {
	if kind, _ := workload.Kind(w.Ref); kind != watch.KindStatefulSet || w.Object == nil {
		return nil
	}
	set := (&unstructured.Unstructured{Object: w.Object}).GetUID()
	pods, err := workload.Pods(ctx, t.Client, t.ID)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		owner := metav1.GetControllerOf(pod)
		if kube.IsReady(pod) || owner == nil || owner.UID != set || job != "" && pod.Labels[kube.LabelJobID] == job {
			continue
		}
		if err := deploy.DeletePod(ctx, t.Reader, pod); err != nil {
			return err
		}
	}
	return nil
}

// broken is true for a pod whose container waits for something, or that has been
// restarted: one that may never become ready.
func broken(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || kube.IsReady(pod) {
		return false
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.State.Waiting != nil || c.RestartCount > 0 {
			return true
		}
	}
	return false
}

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
		return []follow.Source{follow.WorkloadSource(follow.Client(apps.StatefulSets(ns)), subject, resource, known)},
			nil
	case watch.KindDaemonSet:
		return []follow.Source{follow.WorkloadSource(follow.Client(apps.DaemonSets(ns)), subject, resource, known)}, nil
	}
	selector, err := w.PodSelector()
	return []follow.Source{
		follow.WorkloadSource(follow.Client(apps.Deployments(ns)), subject, resource, known),
		follow.SelectedSource[*appsv1.ReplicaSet](follow.Client(apps.ReplicaSets(ns)), "replicasets", ns, selector),
	}, err
}
