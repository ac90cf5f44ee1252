package watch

import (
	"cmp"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/judge"
)

// workload is what the kinds of workload have in common.
type workload struct {
	uid   types.UID
	owner types.UID // who owns the pods of the newest revision; empty if not known
	// current reports whether a pod of the same owner is of the newest revision.
	current       func(*corev1.Pod) bool
	wanted, ready int
	serving       int       // pods of older revisions that are ready
	readyOfAll    int       // where the status does not tell the revisions apart
	complete      bool      // all pods are of the newest revision and available
	since         time.Time // of its newest revision, as far as is known
	ended         v1.Stage  // for a Job that is over
	endCause      *v1.Cause
	waiting       *cause.Finding // why there are fewer pods than wanted
	order         string         // which pod has to come before another, if one has to
	givenUp       bool           // it was waited for long enough
	podsOnly      bool           // nothing else is known of it
	podless       string         // what is said of it while it has no pods; empty for what is usual
}

// kind is one kind of workload.
type kind struct {
	is func(metav1.Object) bool
	// read reads its status. What a status says of an older generation than the
	// specification's is not believed.
	read func(*workload, State, metav1.Object)
}

func kinds() map[string]kind {
	return map[string]kind{
		KindDeployment:  kindOf((*workload).readDeployment),
		KindReplicaSet:  kindOf((*workload).readReplicaSet),
		KindStatefulSet: kindOf((*workload).readStatefulSet),
		KindDaemonSet:   kindOf((*workload).readDaemonSet),
		KindJob:         kindOf((*workload).readJob),
	}
}

func kindOf[T metav1.Object](read func(*workload, State, T)) kind {
	return kind{
		is: func(o metav1.Object) bool { _, ok := o.(T); return ok },
		read: func(w *workload, s State, o metav1.Object) {
			if object, ok := o.(T); ok {
				read(w, s, object)
			}
		},
	}
}

// SubjectOf names a pod or a workload; the kind of anything else is empty.
func SubjectOf(o metav1.Object) Subject {
	s := Subject{Namespace: o.GetNamespace(), Name: o.GetName()}
	if _, ok := o.(*corev1.Pod); ok {
		s.Kind = KindPod
	}
	for name, kind := range kinds() {
		if kind.is(o) {
			s.Kind = name
		}
	}
	return s
}

// workload finds the subject and reads it.
func (s State) workload() (workload, bool) {
	for _, o := range s.objects {
		if !s.subject.Matches(o) {
			continue
		}
		w := workload{
			uid: o.GetUID(), owner: o.GetUID(), since: writtenAt(o),
			current: func(*corev1.Pod) bool { return true },
		}
		kinds()[s.subject.Kind].read(&w, s, o)
		if w.waiting == nil && !w.complete {
			w.waiting = cmp.Or(detect.Controller(s.eventsAbout(w.owner)), s.refused(&w))
		}
		return w, true
	}
	return workload{}, false
}

// refused is why a workload has no pod though its controller makes them: its nodes refuse each. Nil if there is one
// that they have not refused.
func (s State) refused(w *workload) *cause.Finding {
	var last *evidence.Pod
	n := 0
	for _, pod := range all[*corev1.Pod](s.objects) {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.UID != w.owner || !w.current(pod) || pod.DeletionTimestamp != nil {
			continue
		}
		p := s.evidenceOf(pod)
		if !detect.Refuses(p) {
			return nil
		}
		n++
		if last == nil || last.CreationTimestamp.Before(&pod.CreationTimestamp) {
			last = &p
		}
	}
	if last == nil {
		return nil
	}
	w.podless = "every pod was refused by its node"
	return detect.Rejected(*last, n)
}

// writtenAt is when a workload was last written by anybody but for its status: what it
// is followed for began with that, while the workload may be years old.
func writtenAt(o metav1.Object) time.Time {
	at := o.GetCreationTimestamp().Time
	for _, written := range o.GetManagedFields() {
		if written.Time != nil && written.Subresource != "status" {
			at = evidence.Later(at, written.Time.Time)
		}
	}
	return at
}

// replicas is a number of pods that the API server has filled in if it was left
// out.
func replicas(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}

func (w *workload) readReplicaSet(_ State, rs *appsv1.ReplicaSet) {
	w.wanted, w.ready = replicas(rs.Spec.Replicas), int(rs.Status.ReadyReplicas)
	w.complete = rs.Status.ObservedGeneration >= rs.Generation && int(rs.Status.AvailableReplicas) == w.wanted
	w.waiting = detect.ReplicaSet(rs)
}

func (w *workload) readDaemonSet(_ State, set *appsv1.DaemonSet) {
	status := set.Status
	w.wanted, w.readyOfAll = int(status.DesiredNumberScheduled), int(status.NumberReady)
	w.current = func(pod *corev1.Pod) bool {
		return pod.Labels["pod-template-generation"] == set.Annotations[appsv1.DeprecatedTemplateGeneration]
	}
	if w.wanted == 0 && status.ObservedGeneration >= set.Generation {
		w.podless = "no node fits it, so that it wants no pod"
	}
	w.complete = status.ObservedGeneration >= set.Generation &&
		status.UpdatedNumberScheduled == status.DesiredNumberScheduled && int(status.NumberAvailable) == w.wanted
}

func (w *workload) readJob(s State, job *batchv1.Job) {
	w.wanted = replicas(job.Spec.Parallelism)
	if job.Status.Ready != nil {
		w.ready = int(*job.Status.Ready)
	}
	w.complete = w.ready >= w.wanted
	w.waiting = detect.SuspendedJob(job)
	for _, c := range job.Status.Conditions {
		switch {
		case c.Status != corev1.ConditionTrue:
		case c.Type == batchv1.JobComplete:
			w.ended = v1.StageStopped
		case c.Type == batchv1.JobFailed:
			w.ended, w.endCause = v1.StageFailed, judge.FailedJob(job, c, s.lastFailed(job.UID))
		}
	}
	if last := s.lastFailed(job.UID); w.ended == "" && last != nil && job.Status.Active == 0 {
		w.waiting, w.podless = judge.RetriedJob(*last), "its last pod has failed"
	}
}

// lastFailed is the pod of a Job that failed last; nil if no failed pod is known.
func (s State) lastFailed(job types.UID) *evidence.Pod {
	var last *evidence.Pod
	for _, pod := range all[*corev1.Pod](s.objects) {
		owner := metav1.GetControllerOf(pod)
		if owner == nil || owner.UID != job || pod.Status.Phase != corev1.PodFailed {
			continue
		}
		if p := s.evidenceOf(pod); last == nil || !p.EndedAt().Before(last.EndedAt()) {
			last = &p
		}
	}
	return last
}
