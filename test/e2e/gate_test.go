//go:build e2e

package e2e

import (
	"io"
	"slices"

	corev1 "k8s.io/api/core/v1"

	remote "github.com/berthdev/berth/internal/exec"
	podexec "github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/kube"
)

// open lets a workspace of the blueprint gated, which waits for that, become
// ready.
func (w *world) open(user string) {
	w.Helper()
	id := w.idOf(user)
	client := &kube.Client{Interface: w.Interface, Config: w.config, Namespace: w.namespace}
	w.eventually("the gate of "+user+" is open", func() bool {
		status, err := podexec.Run(w.Context(), client, podexec.Request{
			Pod: id, Container: "k8shell-main", Session: remote.Session{Stdout: io.Discard, Stderr: io.Discard},
			Command: []string{"touch", "/tmp/open"},
		})
		return err == nil && status == 0
	})
}

// waitForPod waits until the pod of a workspace shows something.
func (w *world) waitForPod(user string, shows sign) {
	w.Helper()
	id := w.idOf(user)
	w.eventually("the pod shows it", func() bool {
		pod := w.pod(id)
		return pod != nil && shows(pod)
	})
}

// sign says whether a pod shows the change that a test waits for.
type sign func(*corev1.Pod) bool

// unscheduled is the sign that the scheduler has found no place.
func unscheduled(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
	})
}

// waitsFor is the sign that a container waits for one of these reasons.
func waitsFor(reasons ...string) sign {
	return func(pod *corev1.Pod) bool {
		return slices.ContainsFunc(pod.Status.ContainerStatuses, func(s corev1.ContainerStatus) bool {
			return s.State.Waiting != nil && slices.Contains(reasons, s.State.Waiting.Reason)
		})
	}
}
