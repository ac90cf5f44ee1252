package cause

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func hooked(pod *corev1.Pod) {
	pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "setup"}}}}
}

func TestHooks(t *testing.T) {
	started := watchtest.Event("web", "1", "app", "Started", "Container started").At(watchtest.After(2 * time.Second))
	failed := watchtest.Event("web", "1", "app", hookFailed, "PostStartHook failed").Warn().At(watchtest.After(3 * time.Second))
	waits := watchtest.App(watchtest.Waits("ContainerCreating", ""))
	for name, test := range map[string]struct {
		pod    watchtest.MadePod
		events []*corev1.Event
		want   string
	}{
		"hangs":            {watchtest.NewPod("web", "1", watchtest.OnNode, hooked, waits), []*corev1.Event{started.Event}, "HookHangs: its postStart hook (`sh -c setup`) has not returned"},
		"of a pod without": {watchtest.NewPod("web", "1", watchtest.OnNode, waits), []*corev1.Event{started.Event}, ""},
		"only created":     {watchtest.NewPod("web", "1", watchtest.OnNode, hooked, waits), []*corev1.Event{watchtest.Event("web", "1", "app", "Created", "Container created").Event}, ""},
		"not started yet":  {watchtest.NewPod("web", "1", watchtest.OnNode, hooked, waits), nil, ""},
		"failed":           {watchtest.NewPod("web", "1", watchtest.OnNode, hooked, watchtest.App(watchtest.Waits("PostStartHookError", `Exec lifecycle hook ([sh -c setup]) for Container "app" in Pod "web_dev(1)" failed - error: command 'sh -c setup' exited with 3: , message: ""`))), []*corev1.Event{failed.Event}, "HookFailed: its postStart hook (`sh -c setup`) failed: command 'sh -c setup' exited with 3"},
		"restarted since":  {watchtest.NewPod("web", "1", watchtest.OnNode, hooked, watchtest.App(watchtest.Waits("CrashLoopBackOff", "back-off"), watchtest.ExitedBefore(137, "Error", 2))), []*corev1.Event{failed.Event}, "HookFailed: exit code 137 after 2 restarts; its postStart hook (`sh -c setup`) failed"},
		"ended by itself":  {watchtest.NewPod("web", "1", watchtest.OnNode, hooked, watchtest.App(watchtest.Waits("CrashLoopBackOff", "back-off"), begunAt(time.Minute, 1))), []*corev1.Event{failed.Event}, "ContainerExited: exit code 1"},
	} {
		t.Run(name, func(t *testing.T) { compare(t, OfUnready(podOf(test.pod, test.events...)), test.want) })
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
		"Started": {"ContainerCreating", 9 * time.Second}, hookFailed: {hookError, 2 * time.Second},
	} {
		pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode, hooked, watchtest.App(watchtest.Waits(c.waits, ""))), event(reason))
		if f := OfUnready(pod); f == nil || !f.Begun.Equal(watchtest.After(c.want)) {
			t.Errorf("%s: %+v", reason, f)
		}
	}
}

// How often a container was restarted is said from the first time on.
func TestRestartsForAHook(t *testing.T) {
	for restarts, want := range map[int32]*int{0: nil, 2: new(2)} {
		c := evidence.Container{}
		c.Status.State.Waiting = &corev1.ContainerStateWaiting{Reason: hookError, Message: "it failed"}
		c.Status.RestartCount = restarts
		if f := hookWait(c); f == nil || !reflect.DeepEqual(f.Restarts, want) {
			t.Errorf("%d restarts: %+v", restarts, f)
		}
	}
}
