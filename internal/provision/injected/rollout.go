package injected

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch"
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
		return fmt.Sprintf("%s replaces its pods only when they are deleted (updateStrategy OnDelete): they keep the workspace until `kubectl delete pod NAME --namespace %s`",
			w.Ref, namespace)
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
