package watch

import (
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
)

// workload is what the kinds of workload have in common.
type workload struct {
	object metav1.Object
	owner  types.UID // who owns the pods of the newest revision
	// current tells the newest revision's pods from others of the same owner.
	current       func(*corev1.Pod) bool
	wanted, ready int
	serving       int       // pods of older revisions that are ready
	readyOfAll    int       // where the status does not tell the revisions apart
	complete      bool      // all pods are of the newest revision and available
	since         time.Time // of the workload
	ended         v1.Stage  // for a Job that is over
	endCause      *v1.Cause
	waiting       *finding // why there are fewer pods than wanted
}

func everyPod(*corev1.Pod) bool { return true }

// isKind compares by Go type: objects from typed watches carry no kind.
func (s Subject) isKind(o metav1.Object) bool {
	switch o.(type) {
	case *appsv1.Deployment:
		return s.Kind == KindDeployment
	case *appsv1.ReplicaSet:
		return s.Kind == KindReplicaSet
	case *appsv1.StatefulSet:
		return s.Kind == KindStatefulSet
	case *appsv1.DaemonSet:
		return s.Kind == KindDaemonSet
	case *batchv1.Job:
		return s.Kind == KindJob
	}
	return false
}

// workload finds the subject and reads its status. What a status says of an
// older generation than the specification's is not believed.
func (s State) workload() (workload, bool) {
	for _, o := range s.objects {
		if !s.subject.isKind(o) || !s.subject.is(o) {
			continue
		}
		w := workload{object: o, owner: o.GetUID(), current: everyPod, since: o.GetCreationTimestamp().Time}
		switch o := o.(type) {
		case *appsv1.Deployment:
			w.readDeployment(s, o)
		case *appsv1.ReplicaSet:
			w.readReplicaSet(o)
		case *appsv1.StatefulSet:
			w.readStatefulSet(o)
		case *appsv1.DaemonSet:
			w.readDaemonSet(o)
		case *batchv1.Job:
			w.readJob(o)
		}
		w.findRefusal(s)
		return w, true
	}
	return workload{}, false
}

func (w *workload) readDeployment(s State, d *appsv1.Deployment) {
	status := d.Status
	w.wanted, w.ready = replicas(d.Spec.Replicas), int(status.ReadyReplicas)
	w.owner = ""
	if status.ObservedGeneration < d.Generation {
		return // the controller has not seen it yet: which revision is the newest is not known
	}
	newest := s.newestReplicaSet(d)
	if newest != nil {
		w.owner = newest.UID
		w.ready = int(newest.Status.ReadyReplicas)
		w.serving = max(0, int(status.ReadyReplicas)-w.ready)
		w.waiting = replicaFailure(newest)
	}
	w.complete = int(status.UpdatedReplicas) == w.wanted && status.Replicas == status.UpdatedReplicas &&
		int(status.AvailableReplicas) == w.wanted
	for _, c := range status.Conditions {
		if w.waiting == nil && c.Type == appsv1.DeploymentProgressing && c.Reason == CauseProgressDeadline {
			w.waiting = &finding{cause: v1.Cause{Code: CauseProgressDeadline, Message: c.Message, Object: reference(KindDeployment, d.Name)}}
		}
	}
}

const revisionAnnotation = "deployment.kubernetes.io/revision"

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

func (w *workload) readReplicaSet(rs *appsv1.ReplicaSet) {
	w.wanted, w.ready = replicas(rs.Spec.Replicas), int(rs.Status.ReadyReplicas)
	w.complete = rs.Status.ObservedGeneration >= rs.Generation && int(rs.Status.AvailableReplicas) == w.wanted
	w.waiting = replicaFailure(rs)
}

func (w *workload) readStatefulSet(set *appsv1.StatefulSet) {
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
	updated := max(0, w.wanted-partition(set))
	w.complete = int(status.UpdatedReplicas) >= updated && int(status.AvailableReplicas) == w.wanted
}

func partition(set *appsv1.StatefulSet) int {
	if rolling := set.Spec.UpdateStrategy.RollingUpdate; rolling != nil && rolling.Partition != nil {
		return int(*rolling.Partition)
	}
	return 0
}

func (w *workload) readDaemonSet(set *appsv1.DaemonSet) {
	status := set.Status
	w.wanted, w.readyOfAll = int(status.DesiredNumberScheduled), int(status.NumberReady)
	w.current = func(pod *corev1.Pod) bool {
		return pod.Labels["pod-template-generation"] == set.Annotations[appsv1.DeprecatedTemplateGeneration]
	}
	w.complete = status.ObservedGeneration >= set.Generation &&
		status.UpdatedNumberScheduled == status.DesiredNumberScheduled && int(status.NumberAvailable) == w.wanted
}

func (w *workload) readJob(job *batchv1.Job) {
	w.wanted = replicas(job.Spec.Parallelism)
	if job.Status.Ready != nil {
		w.ready = int(*job.Status.Ready)
	}
	w.complete = w.ready >= w.wanted
	for _, c := range job.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			w.ended = v1.StageStopped
		case c.Type == batchv1.JobFailed:
			w.ended = v1.StageFailed
			w.endCause = &v1.Cause{Code: CauseJobFailed, Message: c.Reason + ": " + c.Message, Object: reference(KindJob, job.Name)}
		}
	}
}

func replicaFailure(rs *appsv1.ReplicaSet) *finding {
	for _, c := range rs.Status.Conditions {
		if c.Type == appsv1.ReplicaSetReplicaFailure && c.Status == corev1.ConditionTrue {
			return &finding{begun: c.LastTransitionTime.Time, cause: *Refusal(c.Message, reference(KindReplicaSet, rs.Name))}
		}
	}
	return nil
}

// findRefusal reads the owner's events, for the kinds that have no condition for it.
func (w *workload) findRefusal(s State) {
	if w.waiting != nil || w.complete {
		return
	}
	if e := latest(s.eventsAbout(w.owner), "FailedCreate", "SuccessfulCreate"); e != nil && e.Reason == "FailedCreate" {
		w.waiting = &finding{begun: firstSeen(e), cause: *Refusal(e.Message, objectOf(e))}
	}
}

func replicas(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}
