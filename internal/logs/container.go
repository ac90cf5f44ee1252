package logs

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Containers are the names of a pod's containers, in the order in which they
// start.
func Containers(pod *corev1.Pod) (names []string) {
	for i := range pod.Spec.InitContainers {
		names = append(names, pod.Spec.InitContainers[i].Name)
	}
	for i := range pod.Spec.Containers {
		names = append(names, pod.Spec.Containers[i].Name)
	}
	for i := range pod.Spec.EphemeralContainers {
		names = append(names, pod.Spec.EphemeralContainers[i].Name)
	}
	return names
}

func hasContainer(pod *corev1.Pod, name string) bool { return slices.Contains(Containers(pod), name) }

// readable says what prevents a log from being read, if something does.
func readable(pod *corev1.Pod, r Request) error {
	if !hasContainer(pod, r.Container) {
		return fault.New(fault.NotFound, "workspace %s has no container %q", pod.Name, r.Container).
			WithHint("its containers are: %s", strings.Join(Containers(pod), ", "))
	}
	status := statusOf(pod, r.Container)
	switch {
	case r.Previous && status.LastTerminationState.Terminated == nil:
		return fault.New(fault.NotFound, "container %s of workspace %s has not been restarted: there is no previous log",
			r.Container, pod.Name).
			WithHint("leave out --previous")
	case !r.Previous && !started(status) && over(pod):
		return fault.New(fault.Failed, "container %s of workspace %s has never started: %s", r.Container, pod.Name,
			state(pod, status)).
			WithHint("see why: %s", kube.Command("status", kube.IDOf(&pod.ObjectMeta), pod.Namespace))
	case !r.Previous && !started(status):
		return fault.New(fault.Failed, "container %s of workspace %s has not started yet: %s", r.Container, pod.Name,
			state(pod, status)).
			WithHint("-f waits for it unless the workspace has failed; see why it has not started: %s",
				kube.Command("status", kube.IDOf(&pod.ObjectMeta), pod.Namespace))
	}
	return nil
}

// started is true if an instance has run: one that waits to be started again
// still has the log of the one before. One that is called terminated because
// its pod was deleted in time has no ID.
func started(s corev1.ContainerStatus) bool {
	ran := func(t *corev1.ContainerStateTerminated) bool { return t != nil && t.ContainerID != "" }
	return s.State.Running != nil || ran(s.State.Terminated) || ran(s.LastTerminationState.Terminated)
}

// over is true for a pod in which nothing will start any more.
func over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

func statusOf(pod *corev1.Pod, name string) corev1.ContainerStatus {
	for _, list := range [][]corev1.ContainerStatus{
		pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range list {
			if list[i].Name == name {
				return list[i]
			}
		}
	}
	return corev1.ContainerStatus{Name: name}
}

// state is what Kubernetes says about a container that does not run.
func state(pod *corev1.Pod, s corev1.ContainerStatus) string {
	if w := s.State.Waiting; w != nil && w.Reason != "" {
		if w.Message != "" {
			return w.Reason + ": " + w.Message
		}
		return w.Reason
	}
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue && c.Message != "" {
			return c.Reason + ": " + c.Message
		}
	}
	return "the pod is " + string(pod.Status.Phase)
}
