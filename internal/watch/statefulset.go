package watch

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/judge"
)

func (w *workload) readStatefulSet(s State, set *appsv1.StatefulSet) {
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
	if !w.complete && set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
		w.inOrder(s, set)
	}
}

// inOrder is about a StatefulSet that makes, and replaces, one pod after the other: all
// wait for the first that is not ready.
func (w *workload) inOrder(s State, set *appsv1.StatefulSet) {
	pods := slices.DeleteFunc(all[*corev1.Pod](s.objects), func(pod *corev1.Pod) bool {
		return !metav1.IsControlledBy(pod, set) || pod.DeletionTimestamp != nil
	})
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(ordinal(a.Name), ordinal(b.Name)) })
	first := slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return !kube.IsReady(pod) })
	if first < 0 {
		return
	}
	pod := s.evidenceOf(pods[first])
	if !w.current(pod.Pod) {
		w.waiting = judge.BlockedRevision(pod)
		return
	}
	if next := ordinal(pod.Name) + 1; len(pods) < w.wanted && first == len(pods)-1 {
		w.order = fmt.Sprintf("%s-%d is made once %s is ready", set.Name, next, pod.Name)
	}
}

// ordinal is the number at the end of the name of a StatefulSet's pod.
func ordinal(name string) int {
	n, _ := strconv.Atoi(name[strings.LastIndex(name, "-")+1:])
	return n
}
