// Package rollout says why workloads of a bundle do not get on: it looks at their pods with
// the analyzer that workspaces are followed with, under the same policy. The label by which
// the objects of a bundle are found is not on pods, so that they are read by namespace.
package rollout

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/follow"
)

// Analyze makes the reading of a workload say what keeps its pods from running. Around are
// the pods, ReplicaSets, claims and events of its namespace. A reading that they add nothing
// to stays as it is. The time is when time alone may change it; zero if it will not.
func Analyze(r health.Reading, around []runtime.Object, p cause.Policy, now time.Time) (health.Reading, time.Time) {
	if r.State == health.Current || r.Object.GetUID() == "" {
		return r, time.Time{}
	}
	s, subject := stateOf(r.Object, around)
	if subject.Kind == "" || isBehind(r.Object, around) {
		return r, time.Time{}
	}
	snapshot, next := watch.Analyze(s, p, now)
	failed, stuck := snapshot.Verdict() == v1.VerdictFailed, snapshot.Verdict() == v1.VerdictStuck
	if snapshot.Cause == nil || snapshot.Cause.Tentative || !failed && !stuck &&
		snapshot.Verdict() != v1.VerdictWaiting {
		return r, next
	}
	c := *snapshot.Cause
	c.Hint = cause.Hint(&c, about(s, subject, &c))
	r.Cause, r.Message = &c, Text(c)
	if failed || stuck {
		r.State, r.MayPass = health.Failed, failed && mayBeEnded(subject, c)
	}
	if stuck {
		r.Message += fmt.Sprintf("; this will not resolve by itself, and it was waited for %s (%s)",
			duration.HumanDuration(p.StuckAfter), p.StuckAfterOrigin)
	}
	return r, next
}

// Text is a cause in one line, its code first.
func Text(c v1.Cause) string {
	if strings.HasPrefix(c.Message, c.Code) {
		return c.Message
	}
	return c.Code + ": " + c.Message
}

// stateOf is what is known of a workload; its subject has no kind if it is none.
func stateOf(object *unstructured.Unstructured, around []runtime.Object) (watch.State, watch.Subject) {
	workload, o := typed(object)
	if o == nil {
		return watch.State{}, watch.Subject{}
	}
	subject := watch.SubjectOf(o)
	s := watch.NewState(subject).Apply(apiwatch.Added, workload)
	for _, other := range around {
		if isAbout(object, other) {
			s = s.Apply(apiwatch.Added, other)
		}
	}
	return s, subject
}

// isBehind is true as long as only ReplicaSets of earlier revisions of a Deployment are known:
// another watch has told of it than of them. What their pods fail of may have been mended.
func isBehind(object *unstructured.Unstructured, around []runtime.Object) bool {
	const annotation = "deployment.kubernetes.io/revision"
	of := func(annotations map[string]string) int {
		n, _ := strconv.Atoi(annotations[annotation])
		return n
	}
	newest := 0
	for _, other := range around {
		if rs, is := other.(*appsv1.ReplicaSet); is && metav1.IsControlledBy(rs, object) {
			newest = max(newest, of(rs.Annotations))
		}
	}
	return newest > 0 && newest < of(object.GetAnnotations())
}

// typed is a workload as the analyzer reads it; nil for what is none.
func typed(object *unstructured.Unstructured) (runtime.Object, metav1.Object) {
	if !IsWorkload(object) {
		return nil, nil
	}
	made, err := scheme.Scheme.New(object.GroupVersionKind())
	if err == nil {
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, made)
	}
	o, is := made.(metav1.Object)
	if err != nil || !is {
		return nil, nil
	}
	return made, o
}

// IsWorkload is true for an object that is a pod, or makes some.
func IsWorkload(object *unstructured.Unstructured) bool {
	switch object.GroupVersionKind().GroupKind().String() {
	case "Pod", "Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "DaemonSet.apps", "Job.batch":
		return true
	}
	return false
}

// prefix is how much of a workload's name those of its pods begin with at least: of a long
// one, they leave out the end.
const prefix = 40

// isAbout is true for what can have to do with a workload: what its controllers make has a name
// that begins with its own, and claims have any. The analyzer goes by UIDs.
func isAbout(workload *unstructured.Unstructured, other runtime.Object) bool {
	begins := func(namespace, name string) bool {
		own := workload.GetName()
		return namespace == workload.GetNamespace() && strings.HasPrefix(name, own[:min(len(own), prefix)])
	}
	switch o := other.(type) {
	case *corev1.PersistentVolumeClaim:
		return o.Namespace == workload.GetNamespace()
	case *corev1.Event:
		if o.InvolvedObject.Kind == "PersistentVolumeClaim" {
			return o.Namespace == workload.GetNamespace()
		}
		return begins(o.InvolvedObject.Namespace, o.InvolvedObject.Name)
	}
	o, err := meta.Accessor(other)
	return err == nil && begins(o.GetNamespace(), o.GetName())
}

// about is what a hint may name: the pod that the cause is about, and what makes it.
func about(s watch.State, subject watch.Subject, c *v1.Cause) cause.About {
	a := cause.About{
		Namespace: subject.Namespace, Bundle: true, Controlled: subject.Kind != watch.KindPod,
		Job: subject.Kind == watch.KindJob,
	}
	for _, pod := range s.Pods() {
		if c.Object == "pod/"+pod.Name {
			return a.Of(pod.Spec, c)
		}
	}
	return a
}

// mayBeEnded is true for a failure that another object of the bundle may end: what a
// container lacks can be made by a Job or an operator, and a program that ends because
// another does not answer is started again.
func mayBeEnded(subject watch.Subject, c v1.Cause) bool {
	switch {
	case subject.Kind == watch.KindJob || subject.Kind == watch.KindPod && c.Code == cause.ContainerExited:
		return false // it is over
	case c.Code == cause.ConfigMissing:
		return true
	}
	return c.ExitCode != nil && c.Code != cause.OutOfMemory && c.Code != cause.CommandNotFound &&
		c.Code != cause.NotExecutable && c.Code != cause.ExecFormat
}

// The resources that are read around workloads.
const (
	pods        = "pods"
	replicaSets = "replicasets.apps"
	claims      = "persistentvolumeclaims"
	events      = "events"
)

// scope is one kind of object in a namespace.
type scope struct{ namespace, resource string }

// scopes are what has to be read about those of the objects that are not Current: pods and events,
// and what lies between a workload and its pods, or its pods wait for.
func scopes(readings []health.Reading) []scope {
	needed := map[scope]bool{}
	for _, r := range readings {
		if r.State == health.Current || r.Object.GetUID() == "" || !IsWorkload(r.Object) {
			continue
		}
		namespace := r.Object.GetNamespace()
		needed[scope{namespace, pods}], needed[scope{namespace, events}] = true, true
		if r.Object.GetKind() == "Deployment" {
			needed[scope{namespace, replicaSets}] = true
		}
		if mounts(r.Object) {
			needed[scope{namespace, claims}] = true
		}
	}
	return slices.Collect(maps.Keys(needed))
}

// mounts is true for a workload whose pods mount claims.
func mounts(object *unstructured.Unstructured) bool {
	spec := []string{"spec", "template", "spec", "volumes"}
	if object.GetKind() == "Pod" {
		spec = []string{"spec", "volumes"}
	}
	volumes, _, _ := unstructured.NestedSlice(object.Object, spec...)
	templates, _, _ := unstructured.NestedSlice(object.Object, "spec", "volumeClaimTemplates")
	return len(templates) > 0 || slices.ContainsFunc(volumes, func(v any) bool {
		volume, _ := v.(map[string]any)
		return volume["persistentVolumeClaim"] != nil || volume["ephemeral"] != nil
	})
}

// source reads the objects of a scope that can have to do with one of the workloads.
func source(client kube.Interface, at scope, workloads []*unstructured.Unstructured) follow.Source {
	return follow.Source{
		Client: lister(client, at), Resource: at.resource, Namespace: at.namespace, Sync: true,
		Covers: func(o metav1.Object) bool {
			other, is := o.(runtime.Object)
			return is &&
				slices.ContainsFunc(workloads, func(w *unstructured.Unstructured) bool { return isAbout(w, other) })
		},
	}
}

func lister(client kube.Interface, at scope) follow.ListWatcher {
	switch at.resource {
	case pods:
		return follow.Client(client.CoreV1().Pods(at.namespace))
	case replicaSets:
		return follow.Client(client.AppsV1().ReplicaSets(at.namespace))
	case claims:
		return follow.Client(client.CoreV1().PersistentVolumeClaims(at.namespace))
	}
	return follow.Client(client.CoreV1().Events(at.namespace))
}

// workloadsOf are the workloads among objects.
func workloadsOf(readings []health.Reading) (workloads []*unstructured.Unstructured) {
	for _, r := range readings {
		if IsWorkload(r.Object) {
			workloads = append(workloads, r.Object)
		}
	}
	return workloads
}
