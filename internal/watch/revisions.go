package watch

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/judge"
)

const revisionAnnotation = "deployment.kubernetes.io/revision"

func (w *workload) readDeployment(s State, d *appsv1.Deployment) {
	status := d.Status
	w.wanted, w.ready = replicas(d.Spec.Replicas), int(status.ReadyReplicas)
	w.owner = ""
	if status.ObservedGeneration < d.Generation {
		return // the controller has not seen it yet: which revision is the newest is not known
	}
	w.complete = int(status.UpdatedReplicas) == w.wanted && status.Replicas == status.UpdatedReplicas &&
		int(status.AvailableReplicas) == w.wanted
	newest := s.newestReplicaSet(d)
	switch {
	case newest != nil && revision(newest) < revision(d) && !d.Spec.Paused: // which makes no ReplicaSet
		return // another watch has told of the Deployment than of its ReplicaSets
	case d.Spec.Paused && status.UpdatedReplicas == 0 && w.wanted > 0:
		// There is no ReplicaSet of the newest revision yet.
		w.ready, w.serving = 0, int(status.ReadyReplicas)
	case newest != nil:
		w.owner = newest.UID
		w.ready = int(newest.Status.ReadyReplicas)
		w.serving = max(0, int(status.ReadyReplicas)-w.ready)
		w.waiting = detect.ReplicaSet(newest)
	default:
		w.owner, w.readyOfAll = s.ownerOfNewest(d), int(status.ReadyReplicas)
	}
	if w.waiting == nil {
		w.waiting = detect.PausedDeployment(d)
	}
	if w.waiting == nil && !isOfBefore(d, newest) {
		w.waiting = detect.Deployment(d)
	}
}

// revision is the number that the Deployment controller gives a revision; zero if it has none.
func revision(o metav1.Object) int {
	n, _ := strconv.Atoi(o.GetAnnotations()[revisionAnnotation])
	return n
}

// isOfBefore is true if the deadline that has passed is not that of the newest revision. The
// controller says that it has observed a change before it takes that back, and it leaves the
// name of the ReplicaSet that has failed. Without ReplicaSets, what is no newer than the
// last change is of before.
func isOfBefore(d *appsv1.Deployment, newest *appsv1.ReplicaSet) bool {
	for _, c := range d.Status.Conditions {
		if c.Type != appsv1.DeploymentProgressing || c.Reason != cause.ProgressDeadline {
			continue
		}
		name := strings.Trim(quoted.FindString(c.Message), `"`)
		if newest != nil {
			return name != "" && name != newest.Name && name != d.Name
		}
		return !c.LastUpdateTime.IsZero() && !c.LastUpdateTime.After(kube.WrittenAt(d))
	}
	return false
}

func (s State) newestReplicaSet(d *appsv1.Deployment) *appsv1.ReplicaSet {
	var newest *appsv1.ReplicaSet
	highest := -1
	for _, rs := range all[*appsv1.ReplicaSet](s.objects) {
		if metav1.IsControlledBy(rs, d) && revision(rs) > highest {
			newest, highest = rs, revision(rs)
		}
	}
	return newest
}

// ownerOfNewest is the ReplicaSet of the newest revision where the ReplicaSets
// themselves are not known, as in a dump without them: the one that the Deployment says
// it works on, or the only one that has pods. Empty if that cannot be said.
func (s State) ownerOfNewest(d *appsv1.Deployment) types.UID {
	owners := map[string]types.UID{}
	for _, pod := range all[*corev1.Pod](s.objects) {
		if owner := replicaSetOf(pod, d); owner != nil {
			owners[owner.Name] = owner.UID
		}
	}
	for _, c := range d.Status.Conditions {
		if isOfBefore(d, nil) {
			break
		}
		if name := quoted.FindString(c.Message); c.Type == appsv1.DeploymentProgressing && name != "" {
			return owners[strings.Trim(name, `"`)]
		}
	}
	for _, uid := range owners {
		if len(owners) == 1 && d.Status.UpdatedReplicas > 0 {
			return uid
		}
	}
	return ""
}

// quoted is the name in `ReplicaSet "web-7d4b9c" is progressing.`
var quoted = regexp.MustCompile(`"[^"]+"`)

// replicaSetOf is the ReplicaSet that owns a pod, if its name is one that the Deployment
// gives: its own, and what the pod's label says of the template; nil if it is not.
func replicaSetOf(pod *corev1.Pod, d *appsv1.Deployment) *metav1.OwnerReference {
	owner := metav1.GetControllerOf(pod)
	hash := pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]
	if owner == nil || owner.Kind != KindReplicaSet || hash == "" || pod.Namespace != d.Namespace ||
		owner.Name != d.Name+"-"+hash {
		return nil
	}
	return owner
}

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
