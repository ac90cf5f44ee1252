package workload

import (
	"cmp"
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/berthdev/berth/internal/kube"
)

// Selector selects whatever carries the canonical ID of a workspace in a workload.
func Selector(id string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{kube.LabelCanonicalID: kube.LabelValue(id), kube.LabelInjected: "true"})
}

// Pods are the pods that have the workspace and are not terminating, the one to
// enter first at the front.
func Pods(ctx context.Context, client *kube.Client, id string) ([]*corev1.Pod, error) {
	all, err := List(ctx, client, id)
	return preferred(all), err
}

// List lists the pods that have the workspace.
func List(ctx context.Context, client *kube.Client, id string) ([]*corev1.Pod, error) {
	list, err := client.CoreV1().Pods(client.Namespace).List(ctx, metav1.ListOptions{LabelSelector: Selector(id).String()})
	if err != nil {
		return nil, kube.Fault(err, kube.Call{Verb: "list", Resource: "pods", Namespace: client.Namespace})
	}
	var pods []*corev1.Pod
	for i := range list.Items {
		if pod := &list.Items[i]; kube.IsOfWorkspace(&pod.ObjectMeta) {
			pods = append(pods, pod)
		}
	}
	return pods, nil
}

// preferred orders pods by how well they can be entered: those that are ready
// before the others, the newest first. Those that are terminating are left out.
func preferred(all []*corev1.Pod) []*corev1.Pod {
	pods := slices.DeleteFunc(slices.Clone(all), func(pod *corev1.Pod) bool { return pod.DeletionTimestamp != nil })
	slices.SortStableFunc(pods, func(a, b *corev1.Pod) int {
		return cmp.Or(
			-cmp.Compare(rank(a), rank(b)),
			b.CreationTimestamp.Compare(a.CreationTimestamp.Time),
			cmp.Compare(a.Name, b.Name),
		)
	})
	return pods
}

func rank(pod *corev1.Pod) int {
	if kube.IsReady(pod) {
		return 1
	}
	return 0
}
