package cluster

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
)

// Ready sends the time at which a pod became ready, as seen by a watch of its own,
// since the condition's time has no fractions of a second. It returns when the watch
// is open; the watch ends with ctx.
func Ready(ctx context.Context, client kubernetes.Interface, namespace, pod string) (<-chan time.Time, error) {
	watcher, err := client.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector(metav1.ObjectNameField, pod).String(),
	})
	if err != nil {
		return nil, fmt.Errorf("watch pod %s in namespace %s: %w", pod, namespace, err)
	}
	seen := make(chan time.Time, 1)
	go func() {
		defer watcher.Stop()
		for event := range watcher.ResultChan() {
			now := time.Now()
			if p, ok := event.Object.(*corev1.Pod); ok && isReady(p) {
				seen <- now
				return
			}
		}
	}()
	return seen, nil
}

func isReady(pod *corev1.Pod) bool {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}
