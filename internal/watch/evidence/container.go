package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/fault"
)

// Container is one container of a pod: what was asked for, what the kubelet says
// of it, and the events about it.
type Container struct {
	Name, Image string
	// ImageVolumes are the images that it mounts as volumes.
	ImageVolumes []string

	MemoryLimit string // empty if it has none of its own
	Init        bool
	Sidecar     bool   // an init container that runs on beside the main ones
	Restarts    bool   // is restarted when it ends with an error
	Probed      bool   // has a probe that it has to pass to be ready
	Hook        string // what its postStart hook does; empty if it has none
	Status      corev1.ContainerStatus
	Events      []*corev1.Event
}

// containers are those of the specification. The status can be behind it: at
// first it is empty.
func containers(pod *corev1.Pod, events []*corev1.Event) []Container {
	var all []Container
	for _, spec := range pod.Spec.InitContainers {
		c := newContainer(pod, spec, pod.Status.InitContainerStatuses, events)
		c.Init = true
		c.Sidecar = spec.RestartPolicy != nil && *spec.RestartPolicy == corev1.ContainerRestartPolicyAlways
		all = append(all, c)
	}
	for _, spec := range pod.Spec.Containers {
		all = append(all, newContainer(pod, spec, pod.Status.ContainerStatuses, events))
	}
	return all
}

func newContainer(pod *corev1.Pod, spec corev1.Container, statuses []corev1.ContainerStatus,
	events []*corev1.Event,
) Container {
	c := Container{Name: spec.Name, Image: spec.Image, Restarts: pod.Spec.RestartPolicy != corev1.RestartPolicyNever}
	if spec.RestartPolicy != nil {
		c.Restarts = *spec.RestartPolicy != corev1.ContainerRestartPolicyNever || len(spec.RestartPolicyRules) > 0
	}
	c.Probed = spec.ReadinessProbe != nil || spec.StartupProbe != nil
	if spec.Lifecycle != nil {
		c.Hook = hookOf(spec.Lifecycle.PostStart)
	}
	if limit, ok := spec.Resources.Limits[corev1.ResourceMemory]; ok {
		c.MemoryLimit = limit.String()
	}
	for _, v := range pod.Spec.Volumes {
		if v.Image != nil && slices.ContainsFunc(spec.VolumeMounts,
			func(m corev1.VolumeMount) bool { return m.Name == v.Name }) {
			c.ImageVolumes = append(c.ImageVolumes, v.Image.Reference)
		}
	}
	for _, status := range statuses {
		if status.Name == spec.Name {
			c.Status = status
		}
	}
	for _, e := range events {
		if ContainerOf(e) == spec.Name {
			c.Events = append(c.Events, e)
		}
	}
	return c
}

// hookOf is what a hook does, in short.
func hookOf(h *corev1.LifecycleHandler) string {
	switch {
	case h == nil:
		return ""
	case h.Exec != nil:
		return "`" + fault.Shorten(strings.Join(strings.Fields(strings.Join(h.Exec.Command, " ")), " "), mostHook) + "`"
	case h.HTTPGet != nil:
		return fmt.Sprintf("GET /%s on port %s", strings.TrimPrefix(h.HTTPGet.Path, "/"), h.HTTPGet.Port.String())
	case h.TCPSocket != nil:
		return "a connection to port " + h.TCPSocket.Port.String()
	case h.Sleep != nil:
		return fmt.Sprintf("a sleep of %d s", h.Sleep.Seconds)
	}
	return ""
}

const mostHook = 120 // bytes of a hook's command

// IsStarted is true once the container has passed its startup probe.
func (c Container) IsStarted() bool { return c.Status.Started != nil && *c.Status.Started }

// IsReady is true for a container that runs and has passed its readiness probe.
func (c Container) IsReady() bool { return c.Status.Ready && c.Status.State.Running != nil }

// Serves is true for containers that must be ready for the pod to be running.
func (c Container) Serves() bool { return !c.Init || c.Sidecar }

// IsInitialized is true for an init container that does not hold the others up
// any more: one that completed, or a sidecar that has started.
func (c Container) IsInitialized() bool {
	if c.Sidecar {
		return c.IsStarted()
	}
	t := c.Status.State.Terminated
	return t != nil && t.ExitCode == 0
}

// InitializedAt is when an init container completed, or a sidecar started.
func (c Container) InitializedAt() time.Time {
	switch state := c.Status.State; {
	case state.Terminated != nil:
		return state.Terminated.FinishedAt.Time
	case state.Running != nil:
		return state.Running.StartedAt.Time
	}
	return time.Time{}
}

// Waiting is the reason why the container does not run yet; false if it does, or
// did.
func (c Container) Waiting() (reason, message string, ok bool) {
	if w := c.Status.State.Waiting; w != nil {
		return w.Reason, w.Message, true
	}
	return "", "", c.Status.State.Running == nil && c.Status.State.Terminated == nil
}

// Ended is how the newest instance that ended did so; nil if none has.
func (c Container) Ended() *corev1.ContainerStateTerminated {
	if c.Status.State.Terminated != nil {
		return c.Status.State.Terminated
	}
	return c.Status.LastTerminationState.Terminated
}

// ReadySince is since when the container has been ready, as far as can be said:
// since its start, or since the pod's containers became so.
func (c Container) ReadySince(pod Pod) (time.Time, bool) {
	if !c.IsReady() {
		return time.Time{}, false
	}
	since := c.Status.State.Running.StartedAt.Time
	if pod.isTrue(corev1.ContainersReady) {
		since = Later(since, pod.Since(corev1.ContainersReady))
	}
	return since, true
}
