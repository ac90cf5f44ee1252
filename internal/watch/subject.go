package watch

import (
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
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
// it owns down to the pods, the claims that those mount, the nodes that they are on, and
// the events about all of them. What a whole namespace or cluster says may be a thousand times
// more.
func Related(subject Subject, history []Record) []Record {
	known := related{
		subject: subject, uids: map[types.UID]bool{}, claims: map[types.NamespacedName]bool{},
		nodes: map[string]bool{},
	}
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
	subject    Subject
	deployment *appsv1.Deployment // the subject, if it is one
	uids       map[types.UID]bool
	claims     map[types.NamespacedName]bool
	nodes      map[string]bool
}

func (k *related) add(r Record) {
	o, err := meta.Accessor(r.Object)
	if err != nil || k.uids[o.GetUID()] || !k.belongs(o) {
		return
	}
	k.uids[o.GetUID()] = true
	switch o := o.(type) {
	case *appsv1.Deployment:
		k.deployment = o
	case *corev1.Pod:
		for _, name := range evidence.ClaimNames(o) {
			k.claims[types.NamespacedName{Namespace: o.Namespace, Name: name}] = true
		}
		if o.Spec.NodeName != "" {
			k.nodes[o.Spec.NodeName] = true
		}
	}
}

func (k *related) belongs(o metav1.Object) bool {
	switch o := o.(type) {
	case *corev1.PersistentVolumeClaim:
		return k.claims[types.NamespacedName{Namespace: o.Namespace, Name: o.Name}]
	case *corev1.Node:
		return k.nodes[o.Name]
	case *coordinationv1.Lease:
		return o.Namespace == corev1.NamespaceNodeLease && k.nodes[o.Name]
	case *corev1.Pod:
		if k.subject.isPod() && k.subject.is(o) || k.deployment != nil && replicaSetOf(o, k.deployment) != nil {
			return true
		}
	}
	if k.subject.Matches(o) {
		return true
	}
	owner := metav1.GetControllerOf(o)
	return owner != nil && k.uids[owner.UID]
}

// has is true for what belongs to the subject and for the events about that.
func (k *related) has(r Record) bool {
	if e, ok := r.Object.(*corev1.Event); ok {
		return k.uids[e.InvolvedObject.UID]
	}
	o, err := meta.Accessor(r.Object)
	return err == nil && k.uids[o.GetUID()]
}
