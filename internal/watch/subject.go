package watch

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
