package watch

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
)

// workload is what the kinds of workload have in common.
type workload struct {
	uid   types.UID
	owner types.UID // who owns the pods of the newest revision; empty if not known
	// current tells the newest revision's pods from others of the same owner.
	current       func(*corev1.Pod) bool
	wanted, ready int
	serving       int       // pods of older revisions that are ready
	readyOfAll    int       // where the status does not tell the revisions apart
	complete      bool      // all pods are of the newest revision and available
	since         time.Time // of the workload
	ended         v1.Stage  // for a Job that is over
	endCause      *v1.Cause
	waiting       *cause.Finding // why there are fewer pods than wanted
	podsOnly      bool           // nothing else is known of it
}

// kind is one kind of workload: each has a file.
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

// ObjectKind is the kind of a pod or a workload; empty for anything else.
func ObjectKind(o metav1.Object) string {
	if _, ok := o.(*corev1.Pod); ok {
		return KindPod
	}
	for name, kind := range kinds() {
		if kind.is(o) {
			return name
		}
	}
	return ""
}

// workload finds the subject and reads it.
func (s State) workload() (workload, bool) {
	for _, o := range s.objects {
		if !s.subject.Matches(o) {
			continue
		}
		w := workload{
			uid: o.GetUID(), owner: o.GetUID(), since: o.GetCreationTimestamp().Time,
			current: func(*corev1.Pod) bool { return true },
		}
		kinds()[s.subject.Kind].read(&w, s, o)
		if w.waiting == nil && !w.complete {
			w.waiting = cause.OfController(s.eventsAbout(w.owner))
		}
		return w, true
	}
	return workload{}, false
}

// replicas is a number of pods that the API server has filled in if it was left
// out.
func replicas(n *int32) int {
	if n == nil {
		return 1
	}
	return int(*n)
}
