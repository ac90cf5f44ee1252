package injected

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/workload"
	"github.com/berthdev/berth/internal/watch"
)

// deleteStuckPods deletes the pods of a StatefulSet that have the workspace of
// another job, or of any if none is named, and are not ready: the controller
// waits for them before it creates others, and they wait in vain.
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
		if err := t.deletePod(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

func (t Target) deletePod(ctx context.Context, pod *corev1.Pod) error {
	err := t.Client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	err = kube.Fault(err, kube.Call{Verb: "delete", Resource: "pods", Namespace: pod.Namespace, Name: pod.Name})
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.Conflict: // it is gone, or another pod has its name by now
		return nil
	}
	return err
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
