package watch

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func (w *workload) readDaemonSet(_ State, set *appsv1.DaemonSet) {
	status := set.Status
	w.wanted, w.readyOfAll = int(status.DesiredNumberScheduled), int(status.NumberReady)
	w.current = func(pod *corev1.Pod) bool {
		return pod.Labels["pod-template-generation"] == set.Annotations[appsv1.DeprecatedTemplateGeneration]
	}
	w.complete = status.ObservedGeneration >= set.Generation &&
		status.UpdatedNumberScheduled == status.DesiredNumberScheduled && int(status.NumberAvailable) == w.wanted
}
