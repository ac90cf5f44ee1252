package pod

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// replica is a pod of the workspace alice-2bd806c in a workload, with these of its
// containers running.
func replica(name string, running ...string) *corev1.Pod {
	main := "alice-2bd806c-k8shell-main"
	always := corev1.ContainerRestartPolicyAlways
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "dev",
			Labels: map[string]string{kube.LabelCanonicalID: "alice-2bd806c", kube.LabelInjected: "true"},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{
				{Name: "init"},
				{Name: "proxy", RestartPolicy: &always},
				{Name: "alice-2bd806c-proxy", RestartPolicy: &always},
			},
			Containers: []corev1.Container{{Name: "web"}, {Name: main}, {Name: "alice-2bd806c-tools"}},
			EphemeralContainers: []corev1.EphemeralContainer{
				{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "debugger"}},
				{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "alice-2bd806c-debugger"}},
			},
		},
	}
	for _, container := range running {
		status := corev1.ContainerStatus{
			Name:  container,
			State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}},
		}
		switch {
		case strings.HasSuffix(container, "proxy"):
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, status)
		case strings.HasSuffix(container, "debugger"):
			pod.Status.EphemeralContainerStatuses = append(pod.Status.EphemeralContainerStatuses, status)
		default:
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
		}
	}
	return pod
}

// evicted is a pod of a workspace that its node has ended.
func evicted() *corev1.Pod {
	pod := replica("a")
	delete(pod.Labels, "k8shell.io/injected")
	pod.Status.Phase, pod.Status.Reason, pod.Status.Message = corev1.PodFailed, "Evicted",
		"The node was low on resource: memory."
	return pod
}

func injected(pod *corev1.Pod) *corev1.Pod {
	pod.Labels["k8shell.io/injected"] = "true"
	return pod
}

func TestPlace(t *testing.T) {
	const main = "alice-2bd806c-k8shell-main"
	for name, c := range map[string]struct {
		place                 Place
		pods                  []*corev1.Pod
		pod, container        string
		code                  fault.Code
		reason, message, hint string
	}{
		"the main container of the first": {
			pods: []*corev1.Pod{replica("a", main), replica("b", main)}, pod: "a",
			container: main,
		},
		"the first that runs": {
			pods: []*corev1.Pod{replica("a", "web"), replica("b", main)}, pod: "b",
			container: main,
		},
		"another container": {
			place: Place{Container: "web"}, pods: []*corev1.Pod{replica("a", "web")},
			pod: "a", container: "web",
		},
		"a sidecar": {
			place: Place{Container: "proxy"}, pods: []*corev1.Pod{replica("a", "proxy")},
			pod: "a", container: "proxy",
		},
		"what debugs it": {
			place: Place{Container: "debugger"},
			pods:  []*corev1.Pod{replica("a", "debugger")}, pod: "a", container: "debugger",
		},
		"its own, of its own": {
			place: Place{Container: "alice-2bd806c-tools", Own: true},
			pods:  []*corev1.Pod{replica("a", "alice-2bd806c-tools")}, pod: "a", container: "alice-2bd806c-tools",
		},
		"its own sidecar": {
			place: Place{Container: "alice-2bd806c-proxy", Own: true},
			pods:  []*corev1.Pod{replica("a"), replica("b", "alice-2bd806c-proxy")}, pod: "b",
			container: "alice-2bd806c-proxy",
		},
		"the main one, of its own": {
			place: Place{Own: true}, pods: []*corev1.Pod{replica("a", main)}, pod: "a",
			container: main,
		},
		"the workload's": {
			place: Place{Container: "web", Own: true}, pods: []*corev1.Pod{replica("a", main, "web")},
			code:    fault.InvalidArgument,
			message: "workspace alice-2bd806c has no container web in pod a", hint: "its containers are: " + main +
				", alice-2bd806c-tools, alice-2bd806c-proxy",
		},
		"the workload's sidecar": {
			place: Place{Container: "proxy", Own: true},
			pods:  []*corev1.Pod{replica("a", "proxy")}, code: fault.InvalidArgument,
		},
		"what debugs the workload": {
			place: Place{Container: "debugger", Own: true},
			pods:  []*corev1.Pod{replica("a", "debugger")}, code: fault.InvalidArgument,
		},
		"what debugs it by a name of its": {
			place: Place{Container: "alice-2bd806c-debugger", Own: true},
			pods:  []*corev1.Pod{replica("a", "alice-2bd806c-debugger")}, code: fault.InvalidArgument,
		},
		"the pod that is named": {
			place: Place{Pod: "b"},
			pods:  []*corev1.Pod{replica("a", main), replica("b", main)}, pod: "b", container: main,
		},
		"none runs": {
			pods: []*corev1.Pod{replica("a"), replica("b")}, code: fault.Failed, reason: ReasonNotRunning,
			message: "workspace a cannot be entered: container " + main + " is not running",
			hint:    "see why: berth status id/alice-2bd806c --namespace dev",
		},
		"it was evicted": {
			pods: []*corev1.Pod{evicted()}, code: fault.Failed, reason: ReasonEnded,
			message: "workspace a cannot be entered: its pod is over (Evicted: The node was low on resource: memory.)",
			hint:    "start it again, any storage it has is kept: berth start id/alice-2bd806c --namespace dev",
		},
		"one of a workload was evicted": {
			pods: []*corev1.Pod{injected(evicted()), replica("b", main)}, pod: "b",
			container: main,
		},
		"the pod that is named does not run": {
			place: Place{Pod: "b"},
			pods:  []*corev1.Pod{replica("a", main), replica("b")}, code: fault.Failed, reason: ReasonNotRunning,
		},
		"no such container": {
			place: Place{Container: "main"}, pods: []*corev1.Pod{replica("a", main)}, code: fault.InvalidArgument,
			message: "workspace alice-2bd806c has no container main in pod a", hint: "its containers are: " + main +
				", web, alice-2bd806c-tools, proxy, alice-2bd806c-proxy, debugger, alice-2bd806c-debugger",
		},
		"an init container that ends": {
			place: Place{Container: "init"}, pods: []*corev1.Pod{replica("a", main)},
			code: fault.InvalidArgument,
		},
		"a pod of another workspace": {
			place: Place{Pod: "c"}, pods: []*corev1.Pod{replica("a", main), replica("b", main)},
			code:    fault.InvalidArgument,
			message: "pod c is not a pod of workspace alice-2bd806c", hint: "its pods are: a, b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := c.place.In(c.pods)
			if fault.CodeOf(err) != c.code || fault.ReasonOf(err) != c.reason {
				t.Fatalf("%v (%s %s), want %q %q", err, fault.CodeOf(err), fault.ReasonOf(err), c.code, c.reason)
			}
			if err == nil && (r.Pod != c.pod || r.Container != c.container || r.ID != "alice-2bd806c") {
				t.Errorf("%+v", r)
			}
			if c.message != "" && (err.Error() != c.message || fault.From(err).Hint != c.hint) {
				t.Errorf("%q, hint %q", err, fault.From(err).Hint)
			}
		})
	}
}

// A workspace that still starts is left out where it has to be ready; one that was ready, or
// has been restarted, is not.
func TestPlaceThatIsReady(t *testing.T) {
	begun := time.Unix(100, 0)
	for name, c := range map[string]struct {
		ready    bool
		restarts int32
		changed  time.Time // the condition of the pod; zero for none
		want     fault.Code
	}{
		"it is ready":               {ready: true, changed: begun.Add(time.Second)},
		"its init scripts run":      {changed: begun.Add(-time.Second), want: fault.Failed},
		"it began within a second":  {changed: begun, want: fault.Failed},
		"nothing is known yet":      {want: fault.Failed},
		"it was ready":              {changed: begun.Add(time.Minute)},
		"it was restarted":          {restarts: 1, changed: begun.Add(-time.Second)},
		"it is ready, and no other": {ready: true, changed: begun.Add(-time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			p := replica("a", "alice-2bd806c-k8shell-main")
			s := &p.Status.ContainerStatuses[0]
			s.Ready, s.RestartCount, s.State.Running.StartedAt = c.ready, c.restarts, metav1.NewTime(begun)
			if !c.changed.IsZero() {
				p.Status.Conditions = []corev1.PodCondition{{
					Type: corev1.ContainersReady, Status: corev1.ConditionFalse,
					LastTransitionTime: metav1.NewTime(c.changed),
				}}
			}
			_, err := Place{Ready: true}.In([]*corev1.Pod{p})
			if fault.CodeOf(err) != c.want || err != nil &&
				(fault.ReasonOf(err) != ReasonNotRunning || !strings.Contains(err.Error(),
					"workspace a is still Starting")) {
				t.Errorf("%v", err)
			}
			if _, err := (Place{}).In([]*corev1.Pod{p}); err != nil {
				t.Errorf("it runs: %v", err)
			}
		})
	}
}
