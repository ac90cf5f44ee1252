package follow

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/watch"
)

// ListWatcher lists and watches one kind of object.
type ListWatcher interface {
	List(context.Context, metav1.ListOptions) (runtime.Object, error)
	Watch(context.Context, metav1.ListOptions) (apiwatch.Interface, error)
}

// client is what client-go's typed clients have: a list of their own type.
type client[L runtime.Object] interface {
	List(context.Context, metav1.ListOptions) (L, error)
	Watch(context.Context, metav1.ListOptions) (apiwatch.Interface, error)
}

// Client makes a ListWatcher of a typed client, such as CoreV1().Pods(namespace).
func Client[L runtime.Object](c client[L]) ListWatcher { return typed[L]{c} }

type typed[L runtime.Object] struct{ client[L] }

func (t typed[L]) List(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
	return t.client.List(ctx, opts)
}

// Source is one watch: which objects of one kind, and from where on.
type Source struct {
	Client    ListWatcher
	Resource  string // for messages: pods
	Namespace string // for messages
	Fields    string // field selector
	Labels    string // label selector
	// Covers reports whether this source is about an object. Of the others it says
	// nothing, neither that they exist nor that they are gone.
	Covers func(metav1.Object) bool
	// Listed and Version are a list that the caller has made, and its
	// resourceVersion. Without it the watch begins with what there is, and does not
	// say when that is complete.
	Listed  []runtime.Object
	Version string
	// Sync asks for a complete list first, as a stream where the API server has
	// that.
	Sync bool
}

func (s Source) covers(obj runtime.Object) bool {
	o, err := meta.Accessor(obj)
	return err == nil && s.Covers(o)
}

// list asks what there is now.
func (s Source) list(ctx context.Context) (objects []runtime.Object, version string, err error) {
	list, err := s.Client.List(ctx, metav1.ListOptions{FieldSelector: s.Fields, LabelSelector: s.Labels})
	if err != nil {
		return nil, "", err
	}
	at, err := meta.ListAccessor(list)
	if err != nil {
		return nil, "", err
	}
	objects, err = meta.ExtractList(list)
	return slices.DeleteFunc(objects, func(o runtime.Object) bool { return !s.covers(o) }), at.GetResourceVersion(), err
}

// PodSource watches the pod of one name.
func PodSource(pods ListWatcher, namespace, name string) Source {
	return Source{
		Client: pods, Resource: "pods", Namespace: namespace,
		Fields: fields.OneTermEqualSelector("metadata.name", name).String(),
		Covers: func(o metav1.Object) bool {
			_, ok := o.(*corev1.Pod)
			return ok && o.GetName() == name
		},
	}
}

// ClaimSource watches the claims of these names. The API can select one name or
// none, so of several all are sent and the others left out here.
func ClaimSource(claims ListWatcher, namespace string, names ...string) Source {
	s := Source{
		Client: claims, Resource: "persistentvolumeclaims", Namespace: namespace,
		Covers: func(o metav1.Object) bool {
			_, ok := o.(*corev1.PersistentVolumeClaim)
			return ok && slices.Contains(names, o.GetName())
		},
	}
	if len(names) == 1 {
		s.Fields = fields.OneTermEqualSelector("metadata.name", names[0]).String()
	}
	return s
}

// EventSource watches the events about objects of one kind and these names.
func EventSource(events ListWatcher, namespace, kind string, names ...string) Source {
	selector := fields.OneTermEqualSelector("involvedObject.kind", kind)
	if len(names) == 1 {
		selector = fields.AndSelectors(selector, fields.OneTermEqualSelector("involvedObject.name", names[0]))
	}
	return Source{
		Client: events, Resource: "events", Namespace: namespace,
		Fields: selector.String(),
		Covers: func(o metav1.Object) bool {
			e, ok := o.(*corev1.Event)
			return ok && e.InvolvedObject.Kind == kind && slices.Contains(names, e.InvolvedObject.Name)
		},
	}
}

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
