package workload

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// Unstick deletes the pods of a StatefulSet that have the workspace of another
// job, or of any, and have not become ready: the controller waits for them before
// it makes others, and they wait in vain.
func (w *Workload) Unstick(ctx context.Context, job string) error {
	if kind, _ := Kind(w.Ref); kind != watch.KindStatefulSet || w.Object == nil {
		return nil
	}
	set := (&unstructured.Unstructured{Object: w.Object}).GetUID()
	pods, err := Pods(ctx, w.client, w.ID)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		owner := metav1.GetControllerOf(pod)
		if kube.IsReady(pod) || owner == nil || owner.UID != set || job != "" && pod.Labels[kube.LabelJobID] == job {
			continue
		}
		if err := w.deletePod(ctx, pod); err != nil {
			return err
		}
	}
	return nil
}

func (w *Workload) deletePod(ctx context.Context, pod *corev1.Pod) error {
	err := w.client.CoreV1().Pods(pod.Namespace).Delete(ctx, pod.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}})
	err = kube.Fault(err, kube.Call{Verb: "delete", Resource: "pods", Namespace: pod.Namespace, Name: pod.Name})
	switch fault.CodeOf(err) {
	case fault.NotFound, fault.Conflict: // it is gone, or another pod has its name by now
		return nil
	}
	return err
}

// Clean says whether no pod has the workspace any more. It helps a StatefulSet
// over pods that were made meanwhile and cannot become ready.
func (w *Workload) Clean(ctx context.Context) (bool, error) {
	pods, err := list(ctx, w.client, w.ID)
	for i := range pods {
		if Broken(&pods[i]) {
			return false, w.Unstick(ctx, "")
		}
	}
	return err == nil && len(pods) == 0, err
}
