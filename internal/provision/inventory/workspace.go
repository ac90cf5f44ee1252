package inventory

import (
	"cmp"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/provision/injection"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Objects are what is known of one workspace on the cluster. Its
// document is made of these, alone or in a list, once or as it changes.
type Objects struct {
	// Pods are those that carry its ID.
	Pods []*corev1.Pod
	// Workload is the one that the pods say they belong to; nil if it is not known.
	Workload metav1.Object
	// Around are the events, claims and ReplicaSets that explain them, as far as
	// they are known.
	Around []runtime.Object
}

// Workspace is the document of a workspace that has a pod or a workload. The time
// is when it may change without any event; zero if it will not.
func (o Objects) Workspace(p cause.Policy, now time.Time) (v1.Workspace, time.Time) {
	reading, next := o.read(p, now)
	return o.describe(reading), next
}

func (o Objects) describe(reading v1.Snapshot) v1.Workspace {
	w := Describe(o.newest(), reading)
	for _, pod := range o.Pods {
		if made := pod.CreationTimestamp.UTC(); pod.DeletionTimestamp == nil &&
			(w.CreatedAt.IsZero() || made.Before(w.CreatedAt)) {
			w.CreatedAt = made
		}
	}
	return w
}

func (o Objects) read(p cause.Policy, now time.Time) (v1.Snapshot, time.Time) {
	switch {
	case o.injected():
		return watch.Analyze(o.state(watch.SubjectOf(o.Workload)), p, now)
	case len(o.Pods) == 1 && !IsInjected(o.Pods[0]):
		pod := o.Pods[0]
		return watch.Analyze(o.state(watch.Subject{Namespace: pod.Namespace, Name: pod.Name}), p, now)
	}
	reading, next := watch.AnalyzePods(o.state(watch.Subject{Namespace: o.Pods[0].Namespace}), p, now)
	if o.Workload != nil { // its pods go when the rollout has come to them
		reading.Stage, reading.Status = v1.StageTerminating, v1.StatusTerminating
		reading.Message = strings.TrimPrefix(reading.Message+"; "+notIn(WorkloadOf(o.Pods[0])), "; ")
	}
	return reading, next
}

// state is all of it, for the analyzer.
func (o Objects) state(subject watch.Subject) watch.State {
	s := watch.NewState(subject)
	for _, pod := range o.Pods {
		s = s.Apply(apiwatch.Added, pod)
	}
	if workload, ok := o.Workload.(runtime.Object); ok {
		s = s.Apply(apiwatch.Added, workload)
	}
	for _, object := range o.Around {
		s = s.Apply(apiwatch.Added, object)
	}
	return s
}

// injected is true if the workspace is in the workload, and not only in pods that
// are still to be replaced.
func (o Objects) injected() bool {
	if o.Workload == nil {
		return false
	}
	record, err := injection.RecordOf(o.Workload.GetAnnotations())
	return err == nil && record != nil &&
		(len(o.Pods) == 0 || kube.LabelValue(record.CanonicalID) == o.Pods[0].Labels[kube.LabelCanonicalID])
}

// newest says whose the workspace is: the newest pod, or what the workload makes
// its pods from.
func (o Objects) newest() *metav1.ObjectMeta {
	if template := templateOf(o.Workload); template != nil && o.injected() {
		labels := template.ObjectMeta
		labels.Namespace = o.Workload.GetNamespace()
		return &labels
	}
	newest := slices.MaxFunc(o.Pods, func(a, b *corev1.Pod) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), strings.Compare(b.Name, a.Name))
	})
	return &newest.ObjectMeta
}

func templateOf(workload metav1.Object) *corev1.PodTemplateSpec {
	switch w := workload.(type) {
	case *appsv1.Deployment:
		return &w.Spec.Template
	case *appsv1.StatefulSet:
		return &w.Spec.Template
	case *appsv1.DaemonSet:
		return &w.Spec.Template
	}
	return nil
}

// Events are what Kubernetes recorded about the objects. They belong by UID: those
// about an earlier pod of the same name are left out.
func (o Objects) Events() []v1.ObjectEvent {
	present := map[types.UID]bool{}
	for _, pod := range o.Pods {
		present[pod.UID] = true
	}
	if o.Workload != nil {
		present[o.Workload.GetUID()] = true
	}
	var events []*corev1.Event
	for _, object := range o.Around {
		switch around := object.(type) {
		case *corev1.Event:
			events = append(events, around)
		case metav1.Object:
			present[around.GetUID()] = true
		}
	}
	return watch.ObjectEvents(slices.DeleteFunc(events,
		func(e *corev1.Event) bool { return !present[e.InvolvedObject.UID] }))
}

// Describe is the document of a pod that carries a workspace's labels.
func Describe(pod *metav1.ObjectMeta, reading v1.Snapshot) v1.Workspace {
	w := v1.Workspace{
		ID: kube.IDOf(pod), Namespace: pod.Namespace,
		Owner:     OwnerOf(pod),
		Blueprint: pod.Labels[kube.LabelBlueprint],
		JobID:     pod.Labels[kube.LabelJobID],
		CreatedAt: pod.CreationTimestamp.UTC(),
		Snapshot:  reading,
	}
	if ref := WorkloadOf(pod); !ref.IsZero() {
		w.Workload = ref.String()
	}
	w.Startable = reading.Ended && w.Workload == ""
	w.UserString = UserStringOf(pod.Annotations)
	return w
}

// IsInjected is true for a pod whose workspace is injected into a workload.
func IsInjected(pod *corev1.Pod) bool { return pod.Labels[kube.LabelInjected] == "true" }

// WorkloadOf is the workload that an object of an injected workspace belongs to;
// zero if it belongs to none. The user string has its whole name; a label may have
// had to cut it.
func WorkloadOf(o metav1.Object) userstring.Workload {
	if u, err := userstring.ParseCanonical(UserStringOf(o.GetAnnotations())); err == nil && !u.Workload.IsZero() {
		return u.Workload
	}
	kind, name := o.GetLabels()[kube.LabelWorkloadKind], o.GetLabels()[kube.LabelWorkloadName]
	if kind == "" || name == "" {
		return userstring.Workload{}
	}
	return userstring.Workload{Kind: strings.ToLower(kind), Name: name}
}

func notIn(workload userstring.Workload) string { return "no longer in " + workload.String() }
