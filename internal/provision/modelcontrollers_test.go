package provision

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

const (
	daemonSets = "/apis/apps/v1/namespaces/dev/daemonsets"
	modelPods  = "/api/v1/namespaces/dev/pods"
)

// control is one round of the controllers.
func (m *model) control() {
	if set := m.objects[daemonSets+"/web"]; set != nil {
		m.rollOut(set)
	}
	for _, name := range slices.Sorted(maps.Keys(m.objects)) {
		if pod := m.objects[name]; path.Dir(name) == modelPods && m.canRun(pod) {
			m.run(name, pod)
		}
	}
}

// rollOut replaces the one pod of a DaemonSet if its template is another one.
func (m *model) rollOut(set *unstructured.Unstructured) {
	template, _, _ := unstructured.NestedMap(set.Object, "spec", "template")
	generation := strconv.FormatInt(set.GetGeneration(), 10)
	at := modelPods + "/web-" + generation
	if m.objects[at] != nil {
		return
	}
	for name := range maps.Clone(m.objects) {
		if strings.HasPrefix(name, modelPods+"/web-") {
			m.end(name)
		}
	}
	pod := &unstructured.Unstructured{Object: runtime.DeepCopyJSON(template)}
	pod.SetAPIVersion("v1")
	pod.SetKind("Pod")
	pod.SetName("web-" + generation)
	pod.SetNamespace("dev")
	pod.SetUID(types.UID(at))
	pod.SetCreationTimestamp(metav1.Now())
	marked := pod.GetLabels()
	marked["pod-template-generation"] = generation
	pod.SetLabels(marked)
	pod.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: "apps/v1", Kind: "DaemonSet", Name: "web",
		UID: set.GetUID(), Controller: new(true),
	}})
	next := set.DeepCopy()
	annotations := next.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations["deprecated.daemonset.template.generation"] = generation
	next.SetAnnotations(annotations)
	one, ready := int64(1), int64(1)
	if isBroken(pod) {
		ready = 0
	}
	next.Object["status"] = map[string]any{
		"observedGeneration": set.GetGeneration(), "desiredNumberScheduled": one, "updatedNumberScheduled": one,
		"currentNumberScheduled": one, "numberReady": ready, "numberAvailable": ready,
	}
	m.put(at, pod)
	m.put(daemonSets+"/web", next)
}

// canRun is true for a pod that does not run yet and finds all that it mounts.
func (m *model) canRun(pod *unstructured.Unstructured) bool {
	if pod.Object["status"] != nil {
		return false
	}
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	for _, item := range volumes {
		volume, _ := item.(map[string]any)
		if name, ok, _ := unstructured.NestedString(volume, "configMap", "name"); ok &&
			m.objects["/api/v1/namespaces/dev/configmaps/"+name] == nil {
			return false
		}
		if name, ok, _ := unstructured.NestedString(volume, "persistentVolumeClaim", "claimName"); ok &&
			m.objects["/api/v1/namespaces/dev/persistentvolumeclaims/"+name] == nil {
			return false
		}
	}
	return true
}

// brokenImage keeps a container from running.
const brokenImage = "docker.io/library/broken"

func isBroken(pod *unstructured.Unstructured) bool {
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	return slices.ContainsFunc(containers, func(c any) bool {
		container, _ := c.(map[string]any)
		return container["image"] == brokenImage
	})
}

func (m *model) run(at string, pod *unstructured.Unstructured) {
	pod = pod.DeepCopy()
	_ = unstructured.SetNestedField(pod.Object, "node-1", "spec", "nodeName")
	var statuses, before []any
	initial, _, _ := unstructured.NestedSlice(pod.Object, "spec", "initContainers")
	for _, item := range initial {
		container, _ := item.(map[string]any)
		before = append(before, map[string]any{
			"name": container["name"], "ready": true,
			"state": map[string]any{"terminated": map[string]any{"exitCode": int64(0), "reason": "Completed"}},
		})
	}
	ready, phase := "True", "Running"
	containers, _, _ := unstructured.NestedSlice(pod.Object, "spec", "containers")
	for _, item := range containers {
		container, _ := item.(map[string]any)
		state := map[string]any{"running": map[string]any{"startedAt": time.Now().UTC().Format(time.RFC3339)}}
		runs := container["image"] != brokenImage
		if !runs {
			state = map[string]any{"waiting": map[string]any{
				"reason":  "InvalidImageName",
				"message": "invalid reference format",
			}}
			ready, phase = "False", "Pending"
		}
		statuses = append(statuses, map[string]any{
			"name": container["name"], "ready": runs, "started": runs,
			"state": state,
		})
	}
	pod.Object["status"] = map[string]any{
		"phase": phase, "containerStatuses": statuses,
		"conditions": []any{
			map[string]any{"type": "PodScheduled", "status": "True"},
			map[string]any{"type": "Ready", "status": ready},
		},
	}
	if len(before) > 0 {
		_ = unstructured.SetNestedSlice(pod.Object, before, "status", "initContainerStatuses")
	}
	m.put(at, pod)
}
