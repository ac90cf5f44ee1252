package judge

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// The threshold of the crash loop: for init containers it holds under patient.
func TestInitContainersThreshold(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for _, test := range []struct {
		policy   cause.Policy
		restarts int32
		sidecar  bool
		failed   string
		waiting  string
	}{
		{cause.DefaultPolicy(), 0, false, "InitFailed: exit code 3", ""},
		{patient(), 0, false, "", "ContainerExited: exit code 3"},
		{patient(), 2, false, "", "ContainerExited: exit code 3 after 2 restarts"},
		{patient(), 3, false, "InitFailed: exit code 3 after 3 restarts", ""},
		{cause.DefaultPolicy(), 2, true, "", "ContainerExited"},
		{cause.DefaultPolicy(), 3, true, "CrashLoop: 3 restarts", ""},
		{patient(), 3, true, "CrashLoop: 3 restarts", ""},
	} {
		restart := &always
		if !test.sidecar {
			restart = nil
		}
		pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode,
			watchtest.InitContainer("setup", restart, watchtest.Exits(3, "Error", time.Second),
				watchtest.ExitedBefore(3, "Error", test.restarts)),
			watchtest.App(watchtest.Waits("PodInitializing", ""))))
		compare(t, Pod(pod, test.policy, watchtest.After(2*time.Second)).Failed, test.failed)
		if test.failed == "" {
			compare(t, Unready(pod), test.waiting)
		}
	}
}

// A crash is ignored once the container has been ready for long enough.
func TestRecoveryTime(t *testing.T) {
	pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady,
		watchtest.App(watchtest.Ready(5*time.Second), watchtest.ExitedBefore(137, "OOMKilled", 1))))
	for after, want := range map[time.Duration]string{64 * time.Second: "OOMKilled", 65 * time.Second: ""} {
		got := Pod(pod, cause.DefaultPolicy(), watchtest.After(after))
		compare(t, got.Failed, want)
		if want != "" && !got.Next.Equal(watchtest.After(65*time.Second)) {
			t.Errorf("asks again at %s", got.Next)
		}
	}
}

// A probe that failed is named where the kubelet has killed the container for it.
func TestKilledForAProbe(t *testing.T) {
	failed := watchtest.Event("web", "1", "app", "Unhealthy", "Liveness probe failed: 503").Warn().Event
	killing := watchtest.Event("web", "1", "app", "Killing", "Container app failed liveness probe, will be restarted").
		Event
	crashes := watchtest.App(watchtest.Exits(137, "Error", 0), watchtest.ExitedBefore(137, "Error", 9))
	for name, c := range map[string]struct {
		events []*corev1.Event
		named  bool
	}{
		"killed for it":     {[]*corev1.Event{failed, killing}, true},
		"killed by another": {[]*corev1.Event{failed}, false},
		"without a probe":   {[]*corev1.Event{killing}, false},
	} {
		got := Pod(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, crashes), c.events...), cause.DefaultPolicy(),
			watchtest.Epoch)
		if got.Failed == nil || strings.Contains(got.Failed.Message, "Liveness probe failed: 503") != c.named {
			t.Errorf("%s: %+v", name, got.Failed)
		}
	}
}

func hooked(pod *corev1.Pod) {
	pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{
		PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "setup"}}},
	}
}

func TestHooks(t *testing.T) {
	started := watchtest.Event("web", "1", "app", "Started", "Container started").At(watchtest.After(2 * time.Second))
	failed := watchtest.Event("web", "1", "app", "FailedPostStartHook", "PostStartHook failed").Warn().
		At(watchtest.After(3 * time.Second))
	waits := watchtest.App(watchtest.Waits("ContainerCreating", ""))
	for name, test := range map[string]struct {
		pod    watchtest.MadePod
		events []*corev1.Event
		want   string
	}{
		"hangs": {
			watchtest.NewPod("web", "1", watchtest.OnNode, hooked, waits),
			[]*corev1.Event{started.Event},
			"HookHangs: its postStart hook (`sh -c setup`) has not returned",
		},
		"of a pod without": {watchtest.NewPod("web", "1", watchtest.OnNode, waits), []*corev1.Event{started.Event}, ""},
		"only created": {
			watchtest.NewPod("web", "1", watchtest.OnNode, hooked, waits),
			[]*corev1.Event{watchtest.Event("web", "1", "app", "Created", "Container created").Event},
			"",
		},
		"not started yet": {watchtest.NewPod("web", "1", watchtest.OnNode, hooked, waits), nil, ""},
		"failed": {
			watchtest.NewPod("web", "1", watchtest.OnNode, hooked,
				watchtest.App(watchtest.Waits("PostStartHookError",
					`Exec lifecycle hook ([sh -c setup]) for Container "app" in Pod "web_dev(1)" failed `+
						`- error: command `+
						`'sh -c setup' exited with 3: , message: ""`))),
			[]*corev1.Event{failed.Event},
			"HookFailed: its postStart hook (`sh -c setup`) failed: command 'sh -c setup' exited with 3",
		},
		"restarted since": {watchtest.NewPod("web", "1", watchtest.OnNode, hooked,
			watchtest.App(watchtest.Waits("CrashLoopBackOff", "back-off"),
				watchtest.ExitedBefore(137, "Error",
					2))), []*corev1.Event{failed.Event}, "HookFailed: exit code 137 after 2 restarts; its postStart " +
			"hook (`sh -c setup`) failed"},
		"ended by itself": {watchtest.NewPod("web", "1", watchtest.OnNode, hooked,
			watchtest.App(watchtest.Waits("CrashLoopBackOff", "back-off"),
				begunAt(time.Minute, 1))), []*corev1.Event{failed.Event}, "ContainerExited: exit code 1"},
	} {
		t.Run(name, func(t *testing.T) { compare(t, Unready(podOf(test.pod, test.events...)), test.want) })
	}
}

// begunAt lets the instance before have begun at a time and ended by itself.
func begunAt(at time.Duration, code int32) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		watchtest.ExitedBefore(code, "Error", 1)(s)
		s.LastTerminationState.Terminated.StartedAt.Time = watchtest.After(at)
	}
}

// A hook that runs has begun with the container, and one that failed with its first failure.
func TestWhenAHookBegan(t *testing.T) {
	event := func(reason string) *corev1.Event {
		e := watchtest.Event("web", "1", "app", reason, "said").Event
		e.FirstTimestamp.Time, e.LastTimestamp.Time = watchtest.After(2*time.Second), watchtest.After(9*time.Second)
		return e
	}
	for reason, c := range map[string]struct {
		waits string
		want  time.Duration
	}{
		"Started": {"ContainerCreating", 9 * time.Second}, "FailedPostStartHook": {
			"PostStartHookError",
			2 * time.Second,
		},
	} {
		pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode, hooked,
			watchtest.App(watchtest.Waits(c.waits, ""))), event(reason))
		if f := Unready(pod); f == nil || !f.Begun.Equal(watchtest.After(c.want)) {
			t.Errorf("%s: %+v", reason, f)
		}
	}
}
