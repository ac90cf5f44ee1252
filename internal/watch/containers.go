package watch

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
)

// container is one container of the pod: what was asked for, what the kubelet
// says of it, and the events about it.
type container struct {
	name, image string
	limit       string // of memory
	init        bool
	sidecar     bool // an init container that runs on beside the main ones
	restarts    bool // is restarted when it ends with an error
	status      corev1.ContainerStatus
	events      []*corev1.Event
}

// containersOf gives the init containers, then the main ones, in the order of
// the specification. The status can be behind it: at first it is empty.
func containersOf(pod *corev1.Pod, events []*corev1.Event) []container {
	var all []container
	for _, spec := range pod.Spec.InitContainers {
		c := newContainer(pod, spec, pod.Status.InitContainerStatuses, events)
		c.init = true
		c.sidecar = spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways
		all = append(all, c)
	}
	for _, spec := range pod.Spec.Containers {
		all = append(all, newContainer(pod, spec, pod.Status.ContainerStatuses, events))
	}
	return all
}

func newContainer(pod *corev1.Pod, spec corev1.Container, statuses []corev1.ContainerStatus, events []*corev1.Event) container {
	c := container{name: spec.Name, image: spec.Image, restarts: pod.Spec.RestartPolicy != corev1.RestartPolicyNever}
	if spec.RestartPolicy != nil {
		c.restarts = *spec.RestartPolicy != corev1.ContainerRestartPolicyNever || len(spec.RestartPolicyRules) > 0
	}
	if limit, ok := spec.Resources.Limits[corev1.ResourceMemory]; ok {
		c.limit = limit.String()
	}
	for _, status := range statuses {
		if status.Name == spec.Name {
			c.status = status
		}
	}
	for _, e := range events {
		if containerOf(e) == spec.Name {
			c.events = append(c.events, e)
		}
	}
	return c
}

// started is true once the container has passed its startup probe.
func (c container) started() bool { return c.status.Started != nil && *c.status.Started }

// initialized is true for an init container that holds nothing up any more: one
// that ended well, or a sidecar that has started.
func (c container) initialized() bool {
	if c.sidecar {
		return c.started()
	}
	t := c.status.State.Terminated
	return t != nil && t.ExitCode == 0
}

// serves is true for containers that must be ready for the pod to be running.
func (c container) serves() bool { return !c.init || c.sidecar }

func (c container) ready() bool { return c.status.Ready && c.status.State.Running != nil }

// waiting is the reason why the container does not run yet; false if it does,
// or did.
func (c container) waiting() (reason, message string, ok bool) {
	if w := c.status.State.Waiting; w != nil {
		return w.Reason, w.Message, true
	}
	return "", "", c.status.State.Running == nil && c.status.State.Terminated == nil
}

// ended is how the newest instance that ended did so, if any has.
func (c container) ended() *corev1.ContainerStateTerminated {
	if c.status.State.Terminated != nil {
		return c.status.State.Terminated
	}
	return c.status.LastTerminationState.Terminated
}

// report is the container as it is printed.
func (c container) report(pulling bool) v1.Container {
	r := v1.Container{
		Name:     c.name,
		Init:     c.init,
		Image:    c.image,
		State:    c.state(pulling),
		Restarts: int(c.status.RestartCount),
	}
	switch state := c.status.State; {
	case state.Waiting != nil:
		r.Reason = state.Waiting.Reason
	case state.Terminated != nil:
		r.Reason = state.Terminated.Reason
	}
	if t := c.ended(); t != nil {
		r.ExitCode = number(t.ExitCode)
	}
	return r
}

func (c container) state(pulling bool) v1.ContainerState {
	state := c.status.State
	switch {
	case pulling:
		return v1.ContainerPulling
	case c.ready():
		return v1.ContainerReady
	case state.Running != nil:
		return v1.ContainerRunning
	case state.Terminated != nil && state.Terminated.ExitCode == 0:
		return v1.ContainerDone
	case state.Terminated != nil, c.ended() != nil && c.ended().ExitCode != 0:
		return v1.ContainerFailed
	}
	if _, ok := c.brokenWait(); ok {
		return v1.ContainerFailed
	}
	return v1.ContainerWaiting
}

// readySince is since when the container has been ready, as far as can be told:
// since its start, or since the pod's containers became so.
func (c container) readySince(pod *corev1.Pod) (time.Time, bool) {
	if !c.ready() {
		return time.Time{}, false
	}
	since := c.status.State.Running.StartedAt.Time
	if ready := kube.Condition(pod, corev1.ContainersReady); ready != nil && ready.Status == corev1.ConditionTrue &&
		ready.LastTransitionTime.After(since) {
		since = ready.LastTransitionTime.Time
	}
	return since, true
}

func number(n int32) *int {
	i := int(n)
	return &i
}
