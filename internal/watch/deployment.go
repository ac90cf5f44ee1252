package watch

import (
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/watch/cause"
)

const revisionAnnotation = "deployment.kubernetes.io/revision"

func (w *workload) readDeployment(s State, d *appsv1.Deployment) {
	status := d.Status
	w.wanted, w.ready = replicas(d.Spec.Replicas), int(status.ReadyReplicas)
	w.owner = ""
	if status.ObservedGeneration < d.Generation {
		return // the controller has not seen it yet: which revision is the newest is not known
	}
	if newest := s.newestReplicaSet(d); newest != nil {
		w.owner = newest.UID
		w.ready = int(newest.Status.ReadyReplicas)
		w.serving = max(0, int(status.ReadyReplicas)-w.ready)
		w.waiting = cause.OfReplicaSet(newest)
	}
	w.complete = int(status.UpdatedReplicas) == w.wanted && status.Replicas == status.UpdatedReplicas &&
		int(status.AvailableReplicas) == w.wanted
	if w.waiting == nil {
		w.waiting = cause.OfDeployment(d)
	}
}

func (s State) newestReplicaSet(d *appsv1.Deployment) *appsv1.ReplicaSet {
	var newest *appsv1.ReplicaSet
	highest := -1
	for _, rs := range all[*appsv1.ReplicaSet](s.objects) {
		revision, _ := strconv.Atoi(rs.Annotations[revisionAnnotation])
		if metav1.IsControlledBy(rs, d) && revision > highest {
			newest, highest = rs, revision
		}
	}
	return newest
}

func (w *workload) readReplicaSet(_ State, rs *appsv1.ReplicaSet) {
	w.wanted, w.ready = replicas(rs.Spec.Replicas), int(rs.Status.ReadyReplicas)
	w.complete = rs.Status.ObservedGeneration >= rs.Generation && int(rs.Status.AvailableReplicas) == w.wanted
	w.waiting = cause.OfReplicaSet(rs)
}
