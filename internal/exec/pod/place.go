package pod

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// ReasonNotRunning is the reason of the error about a container that does not run: it may, later.
const ReasonNotRunning = "CONTAINER_NOT_RUNNING"

// ReasonEnded is the reason of the error about a pod that is over, and does not start again by itself.
const ReasonEnded = "POD_ENDED"

// Place says where in a workspace a command runs. The zero value is the main container
// of the pod that is best to enter.
type Place struct {
	Pod, Container string
	// Own leaves out what is the workload's in the pods of an injected workspace.
	Own bool
	// Ready leaves out a container that has not come as far as being ready: a workspace that still starts.
	Ready bool
}

// Into is a request for a workspace's pod, without its command yet. It is an error if
// the pod cannot be entered: a container that does not run has no processes to join.
func Into(pod *corev1.Pod) (Request, error) { return Place{}.In([]*corev1.Pod{pod}) }

// In is a request for the place in the pods of a workspace, of which the first is the best to enter; there is at least
// one. Of several, it is the first one whose container runs.
func (p Place) In(pods []*corev1.Pod) (Request, error) {
	if p.Pod != "" {
		named, err := p.Choose(pods)
		if err != nil {
			return Request{}, err
		}
		pods = []*corev1.Pod{named}
	}
	var first error
	for _, pod := range pods {
		r, err := p.in(pod)
		if err == nil || fault.ReasonOf(err) != ReasonNotRunning {
			return r, err
		}
		if first == nil {
			first = err
		}
	}
	return Request{}, first
}

// Choose is the pod that is named, or else the best to enter, whatever its state.
func (p Place) Choose(pods []*corev1.Pod) (*corev1.Pod, error) {
	if p.Pod == "" {
		return pods[0], nil
	}
	named := slices.IndexFunc(pods, func(pod *corev1.Pod) bool { return pod.Name == p.Pod })
	if named < 0 {
		names := make([]string, len(pods))
		for i, pod := range pods {
			names[i] = pod.Name
		}
		return nil, fault.New(fault.InvalidArgument, "pod %s is not a pod of workspace %s", p.Pod,
			kube.IDOf(&pods[0].ObjectMeta)).WithHint("its pods are: %s", strings.Join(names, ", "))
	}
	return pods[named], nil
}

// in is a request for the place in this pod.
func (p Place) in(pod *corev1.Pod) (Request, error) {
	r := Request{Pod: pod.Name, ID: kube.IDOf(&pod.ObjectMeta), Container: p.Container}
	if r.Container == "" {
		r.Container = kube.MainContainer(pod.Labels)
	} else if names := p.containers(pod); !slices.Contains(names, r.Container) {
		return r, fault.New(fault.InvalidArgument, "workspace %s has no container %s in pod %s", r.ID, r.Container,
			pod.Name).
			WithHint("its containers are: %s", strings.Join(names, ", "))
	}
	if isOver(pod) {
		return r, fault.New(fault.Failed, "workspace %s cannot be entered: its pod is over%s", pod.Name, whyOver(pod)).
			WithHint("start it again, any storage it has is kept: %s", kube.Command("start", r.ID, pod.Namespace)).
			WithReason(ReasonEnded)
	}
	if status := statusIn(pod, r.Container); status != nil && status.State.Running != nil {
		if p.Ready && !hasBeenReady(pod, *status) {
			return r, fault.New(fault.Failed, "workspace %s is still %s: container %s is not ready", pod.Name,
				v1.StageStarting, r.Container).
				WithHint("see why: %s", kube.Command("status", r.ID, pod.Namespace)).WithReason(ReasonNotRunning)
		}
		return r, nil
	}
	return r, fault.New(fault.Failed, "workspace %s cannot be entered: container %s is not running", pod.Name,
		r.Container).
		WithHint("see why: %s", kube.Command("status", r.ID, pod.Namespace)).WithReason(ReasonNotRunning)
}

// statusIn is the status of a container, of whatever kind; nil if there is none.
func statusIn(pod *corev1.Pod, container string) *corev1.ContainerStatus {
	for _, statuses := range [][]corev1.ContainerStatus{
		pod.Status.ContainerStatuses, pod.Status.InitContainerStatuses, pod.Status.EphemeralContainerStatuses,
	} {
		for i := range statuses {
			if statuses[i].Name == container {
				return &statuses[i]
			}
		}
	}
	return nil
}

// isOver is true for the own pod of a workspace that has ended, was evicted, or whose node was
// shut down; those of a workload are replaced by its controller.
func isOver(pod *corev1.Pod) bool {
	return kube.HasEnded(pod) && pod.DeletionTimestamp == nil && pod.Labels[kube.LabelInjected] != "true"
}

// whyOver says why a pod is over, if the cluster has said so.
func whyOver(pod *corev1.Pod) string {
	switch reason, message := pod.Status.Reason, strings.TrimSpace(pod.Status.Message); {
	case reason != "" && message != "":
		return " (" + fault.Line(reason+": "+message) + ")"
	case reason != "":
		return " (" + fault.Line(reason) + ")"
	}
	return ""
}

// hasBeenReady is true for a container that runs and is ready, or has been: what is unready for a
// while, or has been restarted, is to be looked at. That it was ready says the condition of the
// pod, which has changed since the container began.
func hasBeenReady(pod *corev1.Pod, status corev1.ContainerStatus) bool {
	c := kube.Condition(pod, corev1.ContainersReady)
	return status.Ready || status.RestartCount > 0 || c != nil &&
		c.LastTransitionTime.After(status.State.Running.StartedAt.Time)
}

// IsMain is true for the container in which the user of a workspace works.
func (r Request) IsMain(pod *corev1.Pod) bool { return r.Container == kube.MainContainer(pod.Labels) }

// containers are the names of a pod's containers that the place may be in. What debugs the pod of an
// injected workspace is the workload's: it may share the processes of the workload's containers.
func (p Place) containers(pod *corev1.Pod) []string {
	names := Containers(pod)
	if !p.Own || pod.Labels[kube.LabelInjected] != "true" {
		return names
	}
	return slices.DeleteFunc(names, func(name string) bool {
		debugs := slices.ContainsFunc(pod.Spec.EphemeralContainers,
			func(c corev1.EphemeralContainer) bool { return c.Name == name })
		return debugs || !strings.HasPrefix(name, pod.Labels[kube.LabelCanonicalID]+"-")
	})
}

// Containers are the names of a pod's containers that can be entered while it runs, the
// main one first: an init container only if it goes on beside the others, and what debugs the pod.
func Containers(pod *corev1.Pod) []string {
	main := kube.MainContainer(pod.Labels)
	var names []string
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.InitContainers {
		if c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
			names = append(names, c.Name)
		}
	}
	for i := range pod.Spec.EphemeralContainers {
		names = append(names, pod.Spec.EphemeralContainers[i].Name)
	}
	slices.SortStableFunc(names, func(a, b string) int {
		switch main {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	return names
}
