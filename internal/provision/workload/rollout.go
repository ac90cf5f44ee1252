package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// Leaving is the reading of a workspace that is being taken out of a workload:
// Terminating until the last pod that has it is gone.
func Leaving(id string, pods []*corev1.Pod, now time.Time) v1.Snapshot {
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

// Stays says why pods keep the workspace although the template has it no more;
// empty if they do not.
func (w *Workload) Stays() string {
	object := w.Object
	paused, _, _ := unstructured.NestedBool(object, "spec", "paused")
	strategy, _, _ := unstructured.NestedString(object, "spec", "updateStrategy", "type")
	name, namespace := w.Ref.String(), w.client.Namespace
	switch {
	case paused:
		return fmt.Sprintf("the rollout of %s is paused: its pods keep the workspace until `kubectl rollout resume %s --namespace %s`",
			name, name, namespace)
	case strategy == "OnDelete":
		return fmt.Sprintf("%s replaces its pods only when they are deleted (updateStrategy OnDelete): they keep the workspace until `kubectl delete pod NAME --namespace %s`",
			name, namespace)
	}
	return ""
}

// Broken is true for a pod whose container waits for something, or that has
// been restarted: one that may never become ready.
func Broken(pod *corev1.Pod) bool {
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
