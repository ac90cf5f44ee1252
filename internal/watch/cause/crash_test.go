package cause

import (
	"reflect"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/evidence"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// The threshold of the crash loop: for init containers it holds under patient.
func TestInitContainersThreshold(t *testing.T) {
	always := corev1.ContainerRestartPolicyAlways
	for _, test := range []struct {
		policy   Policy
		restarts int32
		sidecar  bool
		failed   string
		waiting  string
	}{
		{DefaultPolicy(), 0, false, "InitFailed: exit code 3", ""},
		{patient(), 0, false, "", "ContainerExited: exit code 3"},
		{patient(), 2, false, "", "ContainerExited: exit code 3 after 2 restarts"},
		{patient(), 3, false, "InitFailed: exit code 3 after 3 restarts", ""},
		{DefaultPolicy(), 2, true, "", "ContainerExited"},
		{DefaultPolicy(), 3, true, "CrashLoop: 3 restarts", ""},
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
		compare(t, Judge(pod, test.policy, watchtest.After(2*time.Second)).Failed, test.failed)
		if test.failed == "" {
			compare(t, OfUnready(pod), test.waiting)
		}
	}
}

// A crash is ignored once the container has been ready for long enough.
func TestRecoveryTime(t *testing.T) {
	pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady,
		watchtest.App(watchtest.Ready(5*time.Second), watchtest.ExitedBefore(137, "OOMKilled", 1))))
	for after, want := range map[time.Duration]string{64 * time.Second: "OOMKilled", 65 * time.Second: ""} {
		got := Judge(pod, DefaultPolicy(), watchtest.After(after))
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
		got := Judge(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, crashes), c.events...), DefaultPolicy(),
			watchtest.Epoch)
		if got.Failed == nil || strings.Contains(got.Failed.Message, "Liveness probe failed: 503") != c.named {
			t.Errorf("%s: %+v", name, got.Failed)
		}
	}
}

func TestCrashHints(t *testing.T) {
	number := func(n int) *int { return &n }
	checkHints(t, []hintTest{
		{
			"out of memory",
			v1.Cause{Code: OutOfMemory, Container: "app"},
			About{Memory: "16Mi"},
			[]string{"limit of 16Mi", `"resources.limits.memory" of container app`},
		},
		{
			"out of memory without a limit",
			v1.Cause{Code: OutOfMemory, Message: "container app: ran out of memory (OOMKilled); it has no memory limit of its own"},
			About{},
			[]string{"more memory than the node could give it"},
		},
		{
			"out of memory with a limit",
			v1.Cause{Code: OutOfMemory, Message: "container app: ran out of memory (OOMKilled), its limit is 512Mi; its last words: x"},
			About{},
			[]string{"more memory than its limit of 512Mi, and"},
		},
		{
			"out of memory, and nothing is known",
			v1.Cause{Code: OutOfMemory},
			About{},
			[]string{"more memory than it could get"},
		},
		{"killed", v1.Cause{Code: CrashLoop, ExitCode: number(137)}, About{}, []string{"137 is SIGKILL"}},
		{"crashed", v1.Cause{
			Code: CrashLoop, ExitCode: number(139), Object: "pod/api", Container: "app",
			Restarts: number(3),
		}, About{}, []string{"139 is SIGSEGV", "`kubectl logs api --container app --previous`"}},
		{
			"crashed in a workspace",
			v1.Cause{Code: CrashLoop, Object: "pod/alice-1", Container: "app", Restarts: number(3)},
			About{UserString: "alice~dev", Blueprint: "dev", Namespace: "t"},
			[]string{"`berth logs alice~dev --container app --namespace t --previous`"},
		},
		{"terminated", v1.Cause{Code: ContainerExited, ExitCode: number(143)}, About{}, []string{"143 is SIGTERM"}},
		{
			"no such program",
			v1.Cause{Code: InitFailed, ExitCode: number(127)},
			About{},
			[]string{"127: a program was not found"},
		},
		{
			"killed for its probe",
			v1.Cause{Code: CrashLoop, Message: "Liveness probe failed: 503"},
			About{Probe: "GET /healthz on port 80"},
			[]string{"because of its probe", "asks for GET /healthz on port 80"},
		},
	})
}

func hooked(pod *corev1.Pod) {
	pod.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "-c", "setup"}}}}
}

func TestHooks(t *testing.T) {
	started := watchtest.Event("web", "1", "app", "Started", "Container started").At(watchtest.After(2 * time.Second))
	failed := watchtest.Event("web", "1", "app", hookFailed, "PostStartHook failed").Warn().
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
		"failed": {watchtest.NewPod("web", "1", watchtest.OnNode, hooked,
			watchtest.App(watchtest.Waits("PostStartHookError",
				`Exec lifecycle hook ([sh -c setup]) for Container "app" in Pod "web_dev(1)" failed - error: command 'sh -c setup' exited with 3: , message: ""`))), []*corev1.Event{failed.Event}, "HookFailed: its postStart hook (`sh -c setup`) failed: command 'sh -c setup' exited with 3"},
		"restarted since": {watchtest.NewPod("web", "1", watchtest.OnNode, hooked,
			watchtest.App(watchtest.Waits("CrashLoopBackOff", "back-off"),
				watchtest.ExitedBefore(137, "Error",
					2))), []*corev1.Event{failed.Event}, "HookFailed: exit code 137 after 2 restarts; its postStart hook (`sh -c setup`) failed"},
		"ended by itself": {watchtest.NewPod("web", "1", watchtest.OnNode, hooked,
			watchtest.App(watchtest.Waits("CrashLoopBackOff", "back-off"),
				begunAt(time.Minute, 1))), []*corev1.Event{failed.Event}, "ContainerExited: exit code 1"},
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
		pod := podOf(watchtest.NewPod("web", "1", watchtest.OnNode, hooked, watchtest.App(watchtest.Waits(c.waits, ""))),
			event(reason))
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
