package follow

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/watch"
)

// WorkloadSource watches one workload, from the version on that the caller has.
func WorkloadSource(workloads ListWatcher, subject watch.Subject, resource string, known metav1.Object) Source {
	s := Source{
		Client: workloads, Resource: resource, Namespace: subject.Namespace,
		Fields: fields.OneTermEqualSelector("metadata.name", subject.Name).String(),
		Covers: subject.Matches,
	}
	if object, ok := known.(runtime.Object); ok {
		s.Listed, s.Version = []runtime.Object{object}, known.GetResourceVersion()
	}
	return s
}

// SelectedPodSource watches the pods that a label selector selects.
func SelectedPodSource(pods ListWatcher, namespace string, selector labels.Selector) Source {
	return Source{
		Client: pods, Resource: "pods", Namespace: namespace, Labels: selector.String(),
		Covers: func(o metav1.Object) bool {
			_, ok := o.(*corev1.Pod)
			return ok && selector.Matches(labels.Set(o.GetLabels()))
		},
	}
}

// ReplicaSetSource watches the ReplicaSets that a label selector selects.
func ReplicaSetSource(sets ListWatcher, namespace string, selector labels.Selector) Source {
	return Source{
		Client: sets, Resource: "replicasets", Namespace: namespace, Labels: selector.String(),
		Covers: func(o metav1.Object) bool {
			_, ok := o.(*appsv1.ReplicaSet)
			return ok && selector.Matches(labels.Set(o.GetLabels()))
		},
	}
}

// OffspringEventSource watches the events about a workload, about what its
// controller makes, whose names begin with its own, and about these claims. The
// API cannot select by the beginning of a name, so those of the namespace are
// sent and the others left out here.
func OffspringEventSource(events ListWatcher, subject watch.Subject, claims ...string) Source {
	names := map[string]bool{subject.Name: true}
	for _, claim := range claims {
		names[claim] = true
	}
	return Source{
		Client: events, Resource: "events", Namespace: subject.Namespace,
		Covers: func(o metav1.Object) bool {
			e, ok := o.(*corev1.Event)
			return ok && (names[e.InvolvedObject.Name] || strings.HasPrefix(e.InvolvedObject.Name, subject.Name+"-"))
		},
	}
}
