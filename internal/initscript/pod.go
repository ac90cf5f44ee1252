package initscript

import (
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
