package cause

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/watchtest"
)

func TestFailedPod(t *testing.T) {
	phase := func(reason, message string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: reason, Message: message}
		}
	}
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   string
	}{
		"evicted": {
			phase("Evicted", "The node was low on resource: memory. "),
			"Evicted: Evicted: The node was low on resource: memory.",
		},
		"preempted":                  {phase("Preempting", ""), "Preempted: the pod failed: Preempting"},
		"refused by the node":        {phase("OutOfcpu", "not enough"), "NodeOutOfResources: OutOfcpu: not enough"},
		"labels of the node changed": {phase("NodeAffinity", "x"), "NodeAffinity"},
		"out of time":                {phase("DeadlineExceeded", "x"), "DeadlineExceeded"},
		"for another reason":         {phase("Strange", ""), "PodFailed: the pod failed: Strange"},
		"for no reason":              {phase("", ""), "PodFailed: the pod failed"},
		"its container ended": {func(pod *corev1.Pod) {
			watchtest.App(watchtest.Exits(2, "Error", time.Second))(pod)
			pod.Status.Phase = corev1.PodFailed
		}, "ContainerExited: ended with exit code 2"},
	} {
		t.Run(name, func(t *testing.T) {
			f := OfFailed(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, test.change)), DefaultPolicy())
			compare(t, &f, test.want)
			if pod := watchtest.NewPod("web", "1", test.change); pod.Status.Reason != "" && f.Reason != pod.Status.Reason {
				t.Errorf("reason %q, want the pod's, %q", f.Reason, pod.Status.Reason)
			}
		})
	}
}

// The sandbox counts only until the pod has one.
func TestNoSandbox(t *testing.T) {
	e := warning("", "FailedCreatePodSandBox", "plugin type=cni failed")
	compare(t, OfUnready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode), e)),
		"SandboxFailed: plugin type=cni failed")
	up := func(pod *corev1.Pod) { watchtest.Set(pod, corev1.PodReadyToStartContainers, corev1.ConditionTrue, 0) }
	compare(t, OfUnready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, up), e)), "")
}

// A node without a network is named with the word that the kubelet has for it.
func TestNoNetwork(t *testing.T) {
	e := watchtest.Event("web", "1", "", "NetworkNotReady", "cni plugin not initialized").Warn()
	f := noNetwork(podOf(watchtest.NewPod("web", "1", watchtest.OnNode)), e.Event)
	if f.Code != NetworkNotReady || f.Reason != "NetworkNotReady" || f.Object != "node/node1" {
		t.Errorf("%+v", f.Cause)
	}
}
