package watch

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

func (w *workload) readStatefulSet(_ State, set *appsv1.StatefulSet) {
	status := set.Status
	w.wanted, w.readyOfAll = replicas(set.Spec.Replicas), int(status.ReadyReplicas)
	if status.ObservedGeneration < set.Generation {
		w.owner = ""
		return // the controller has not seen it yet: which revision is the newest is not known
	}
	w.current = func(pod *corev1.Pod) bool {
		return pod.Labels[appsv1.ControllerRevisionHashLabelKey] == status.UpdateRevision
	}
	// Pods below the partition stay of the revision before.
	partition := 0
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		partition = int(*rolling.Partition)
	}
	w.complete = int(status.UpdatedReplicas) >= max(0, w.wanted-partition) && int(status.AvailableReplicas) == w.wanted
}
