package watch

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/berthdev/berth/internal/watch/evidence"
)

// The kinds of thing that can be followed.
const (
	KindPod         = "Pod"
	KindDeployment  = "Deployment"
	KindReplicaSet  = "ReplicaSet"
	KindStatefulSet = "StatefulSet"
	KindDaemonSet   = "DaemonSet"
	KindJob         = "Job"
)

// Subject names the one thing that is followed.
type Subject struct {
	Kind      string // empty means Pod
	Namespace string
	Name      string
}

func (s Subject) isPod() bool { return s.Kind == "" || s.Kind == KindPod }

// is reports whether an object of the subject's kind is the subject. A subject
// without a namespace is any of that name.
func (s Subject) is(o metav1.Object) bool {
	return o.GetName() == s.Name && (s.Namespace == "" || o.GetNamespace() == s.Namespace)
}

// Matches reports whether an object is the workload that the subject names.
func (s Subject) Matches(o metav1.Object) bool { return s.isKind(o) && s.is(o) }

// isKind compares by Go type: objects from typed watches carry no kind.
func (s Subject) isKind(o metav1.Object) bool {
	kind, ok := kinds()[s.Kind]
	return ok && kind.is(o)
}

// Related leaves of a history what can have to do with a subject: itself, what
// it owns down to the pods, the claims that those mount, and the events about
// all of them. What a whole namespace or cluster says may be a thousand times
// more.
func Related(subject Subject, history []Record) []Record {
	known := related{subject: subject, uids: map[types.UID]bool{}, claims: map[types.NamespacedName]bool{}}
	// A Deployment owns ReplicaSets, which own pods, which mount claims; in a
	// history, any of them can come first.
	for before := -1; len(known.uids) > before; {
		before = len(known.uids)
		for _, r := range history {
			known.add(r)
		}
	}
	var left []Record
	for _, r := range history {
		if known.has(r) {
			left = append(left, r)
		}
	}
	return left
}

// related are the UIDs of what belongs to a subject.
type related struct {
	subject Subject
	uids    map[types.UID]bool
	claims  map[types.NamespacedName]bool
}

func (k related) add(r Record) {
	o, err := meta.Accessor(r.Object)
	if err != nil || k.uids[o.GetUID()] || !k.belongs(o) {
		return
	}
	k.uids[o.GetUID()] = true
	if pod, ok := o.(*corev1.Pod); ok {
		for _, name := range evidence.ClaimNames(pod) {
			k.claims[types.NamespacedName{Namespace: pod.Namespace, Name: name}] = true
		}
	}
}

func (k related) belongs(o metav1.Object) bool {
	if _, ok := o.(*corev1.PersistentVolumeClaim); ok {
		return k.claims[types.NamespacedName{Namespace: o.GetNamespace(), Name: o.GetName()}]
	}
	_, pod := o.(*corev1.Pod)
	if (pod && k.subject.isPod()) && k.subject.is(o) || k.subject.Matches(o) {
		return true
	}
	owner := metav1.GetControllerOf(o)
	return owner != nil && k.uids[owner.UID]
}

// has is true for what belongs to the subject and for the events about that.
func (k related) has(r Record) bool {
	if e, ok := r.Object.(*corev1.Event); ok {
		return k.uids[e.InvolvedObject.UID]
	}
	o, err := meta.Accessor(r.Object)
	return err == nil && k.uids[o.GetUID()]
}
