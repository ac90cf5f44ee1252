package initscript

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/kube"
)

// Container is the container of a pod that runs init scripts and says so in its log; false
// if the pod has none, or an agent that runs them in its own way.
func Container(pod *corev1.Pod) (name string, ok bool) {
	name = kube.MainContainer(pod.Labels)
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		if c.Name == name && slices.Contains(c.Command, runtime) {
			mounted := func(m corev1.VolumeMount) bool { return m.MountPath == directory }
			return name, slices.ContainsFunc(c.VolumeMounts, mounted)
		}
	}
	return name, false
}

// What the chart gives a workspace with init scripts: its main process, and where they are.
const (
	runtime   = "/k8shell/runtime/start.sh"
	directory = "/k8shell/init"
)

// Instance is an instance of the container of a pod: each runs those of the scripts again
// that have not ended well.
type Instance struct {
	PodUID, Container, ID string
}

// MostPods is in how many pods of a workload the scripts are looked at: they run the same in
// all of them.
const MostPods = 8

// ErrTooManyPods is why it is not known what has become of all scripts of a large workload.
var ErrTooManyPods = fmt.Errorf("they run in more than %d pods", MostPods)

// Strict says whether a script that fails in a pod is a failure of the workspace.
func Strict(pod *corev1.Pod) bool { return pod.Annotations[kube.AnnotationStrictScripts] == "true" }

// Running is the instance that runs in a pod; false if none does, or it has no init scripts.
func Running(pod *corev1.Pod) (Instance, bool) {
	name, ok := Container(pod)
	if !ok || pod.DeletionTimestamp != nil {
		return Instance{}, false
	}
	for i := range pod.Status.ContainerStatuses {
		if s := &pod.Status.ContainerStatuses[i]; s.Name == name && s.State.Running != nil {
			return Instance{PodUID: string(pod.UID), Container: name, ID: string(pod.UID) + "/" + s.ContainerID}, true
		}
	}
	return Instance{}, false
}
