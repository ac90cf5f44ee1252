package rollout

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/apply/health"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/follow"
)

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
			return is && slices.ContainsFunc(workloads, func(w *unstructured.Unstructured) bool { return isAbout(w, other) })
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
