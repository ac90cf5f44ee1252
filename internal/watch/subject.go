package watch

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
// without a namespace is looked for in all that is known.
func (s Subject) is(o metav1.Object) bool {
	return o.GetName() == s.Name && (s.Namespace == "" || o.GetNamespace() == s.Namespace)
}

// Matches reports whether an object is the workload that the subject names.
func (s Subject) Matches(o metav1.Object) bool { return s.isKind(o) && s.is(o) }

// reference is how an object is named in a report: kind/name.
func reference(kind, name string) string {
	return strings.ToLower(kind) + "/" + name
}
