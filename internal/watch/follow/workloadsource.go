package follow

import (
	"strings"

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

// SelectedSource watches the objects of one kind that a label selector selects.
func SelectedSource[T metav1.Object](client ListWatcher, resource, namespace string, selector labels.Selector) Source {
	return Source{
		Client: client, Resource: resource, Namespace: namespace, Labels: selector.String(),
		Covers: func(o metav1.Object) bool {
			_, ok := o.(T)
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
