package logs

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/follow"
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
		return fault.New(fault.NotFound, "container %s of workspace %s has not been restarted: there is no previous "+
			"log",
			r.Container, pod.Name).
			WithHint("leave out --previous")
	case !r.Previous && !started(status) && kube.HasEnded(pod):
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

// waitForStart waits until the container has started, or cannot any more. The
// watch goes on from the pod as it was read, so that nothing is missed.
func waitForStart(ctx context.Context, client *kube.Client, pod *corev1.Pod, r Request) error {
	subject := watch.Subject{Kind: watch.KindPod, Namespace: pod.Namespace, Name: pod.Name}
	source := follow.PodSource(follow.Client(client.CoreV1().Pods(pod.Namespace)), pod.Namespace, pod.Name)
	source.Listed, source.Version = []runtime.Object{pod}, pod.ResourceVersion
	f, err := follow.Open(ctx, subject, source)
	if err != nil {
		return err
	}
	defer f.Close()
	f.Expect(pod.UID)
	var failed error
	err = f.Until(ctx, func(s watch.State) (done bool) {
		now, gone := s.Pod()
		if done, failed = reached(pod, now, gone, r); !done && failed == nil {
			failed = failure(s, r)
		}
		return done || failed != nil
	})
	return cmp.Or(failed, err)
}

// failure is why the container will not start, if the workspace has failed.
func failure(s watch.State, r Request) error {
	reading, _ := watch.Analyze(s, r.Policy, time.Now())
	now, _ := s.Pod()
	if reading.Verdict() != v1.VerdictFailed || reading.Cause == nil || now == nil {
		return nil
	}
	return fault.New(fault.Failed, "container %s of workspace %s does not start: %s", r.Container, now.Name,
		reading.Cause.Message).
		WithHint("see what to do: %s", kube.Command("status", kube.IDOf(&now.ObjectMeta), now.Namespace))
}

// reached decides whether the waiting is over.
func reached(asked, now *corev1.Pod, gone bool, r Request) (bool, error) {
	switch {
	case now == nil && !gone: // not listed yet
		return false, nil
	case gone, kube.HasEnded(now) && now.DeletionTimestamp != nil:
		return false, fault.New(fault.NotFound, "the pod of workspace %s is gone", asked.Name)
	case started(statusOf(now, r.Container)):
		return true, nil
	case kube.HasEnded(now):
		return false, readable(now, r)
	}
	return false, nil
}
