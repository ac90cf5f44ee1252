package watch

import (
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

var always = corev1.ContainerRestartPolicyAlways

var web = Subject{Namespace: "dev", Name: "web"}

// stateOf is a state in which all of this has been said, in this order.
func stateOf(objects ...runtime.Object) State {
	s := NewState(web)
	for i, o := range objects {
		if o, ok := o.(*corev1.Event); ok {
			o.ResourceVersion = strconv.Itoa(i + 1)
		}
		s = s.Apply(watch.Added, o)
	}
	return s
}

func TestAnalyze(t *testing.T) {
	second := time.Second
	pulling := watchtest.Event("web", "1", "app", "Pulling", `Pulling image "x/app:1"`).Event
	at := func(e watchtest.MadeEvent, d time.Duration) *corev1.Event { return e.At(watchtest.After(d)).Event }
	for name, test := range map[string]struct {
		pod     watchtest.MadePod
		events  []*corev1.Event
		claim   *corev1.PersistentVolumeClaim
		policy  func(*cause.Policy)
		now     time.Duration
		stage   v1.Stage
		next    time.Duration // 0 for never
		message string
		cause   string // "Code" or "Code: words"
	}{
		"a pull is not the stage for 8 s": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode), events: []*corev1.Event{pulling},
			now: 7 * second, stage: v1.StageStarting, next: 8 * second, message: "app: pulling app:1",
		},
		"but then it is": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode), events: []*corev1.Event{pulling},
			now: 8 * second, stage: v1.StagePulling, message: "app:1",
		},
		"an image that was pulled": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode),
			events: []*corev1.Event{pulling, at(watchtest.Event("web", "1", "app", "Pulled", "Successfully pulled"),
				3*second)},
			now: 20 * second, stage: v1.StageStarting,
		},
		"an image that is on the node is never pulling": {
			pod:    watchtest.NewPod("web", "1", watchtest.OnNode),
			events: []*corev1.Event{watchtest.Event("web", "1", "app", "Pulled", "already present").Event},
			now:    20 * second, stage: v1.StageStarting,
		},
		"a pull whose end was not reported, but the container runs": {
			pod:    watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(6*second))),
			events: []*corev1.Event{pulling},
			now:    20 * second, stage: v1.StageStarting, message: "app is not ready",
		},
		"no event, but every init container is done": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("setup", nil, watchtest.Exits(0, "Completed", 2*second)),
				watchtest.App(watchtest.Waits("PodInitializing", ""))),
			now: 9 * second, stage: v1.StageStarting, next: 10 * second,
		},
		"no event, and a while later": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("setup", nil, watchtest.Exits(0, "Completed", 2*second)),
				watchtest.App(watchtest.Waits("PodInitializing", ""))),
			now: 10 * second, stage: v1.StagePulling, message: "app:1",
		},
		"an init container that never ends is not pulling": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("setup", nil, watchtest.Runs(2*second)),
				watchtest.App(watchtest.Waits("PodInitializing", ""))),
			now: time.Hour, stage: v1.StageInitializing, next: time.Hour + 2*second, message: "setup",
			cause: "SlowInit: for more than 15 minutes",
		},
		"events of a pod before it": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode),
			events: []*corev1.Event{
				watchtest.Event("web", "0", "app", "Failed", `Failed to pull image "x/app:1": not found`).Warn().Event,
				watchtest.Event("web", "0", "app", "Pulling", "").Event,
			},
			now: time.Hour, stage: v1.StageStarting, cause: "KubeletSilent: node node1",
		},
		"a failed pull before the status knows": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Waits("ContainerCreating", ""))),
			events: []*corev1.Event{
				pulling,
				watchtest.Event("web", "1", "app", "Failed", `Failed to pull image "x/app:1": pull access `+
					`denied for x/app`).
					Warn().Event,
				watchtest.Event("web", "1", "app", "Failed", "Error: ErrImagePull").Warn().Event,
			},
			stage: v1.StageFailed, cause: "ImagePullDenied: container app: image x/app:1 cannot be pulled: " +
				"pull access denied",
		},
		"the cause of a pull stays while backing off": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Waits("ImagePullBackOff",
				`Back-off pulling image "x/app:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and `+
					`unpack image "x/app:1": failed to resolve reference "x/app:1": x/app:1: not found`))),
			stage: v1.StageFailed, cause: "ImageNotFound: container app: image x/app:1 not found",
		},
		"one container fails while another's image still comes": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("side", &always, watchtest.Runs(0)),
				func(pod *corev1.Pod) {
					pod.Spec.Containers = append(pod.Spec.Containers,
						corev1.Container{Name: "other", Image: "x/other:1"})
				}, watchtest.App(watchtest.Waits("CreateContainerConfigError", `secret "s" not found`))),
			events: []*corev1.Event{watchtest.Event("web", "1", "other", "Pulling", "").Event},
			now:    time.Minute, stage: v1.StageFailed, cause: "ConfigMissing: secret",
		},
		"failed to sync the cache is the node being slow": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Waits("CreateContainerConfigError",
					"failed to sync configmap cache: timed out waiting for the condition"))),
			stage: v1.StageStarting, next: 3 * second, cause: "RuntimeSlow: failed to sync",
		},
		"exec format error": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Waits("RunContainerError", `exec /app: exec format error`))),
			stage: v1.StageFailed, cause: "ExecFormat",
		},
		"an init container's first failure": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("setup", nil, watchtest.Exits(3, "Error", 2*second)),
				watchtest.App(watchtest.Waits("PodInitializing", ""))),
			now: 3 * second, stage: v1.StageFailed, cause: "InitFailed: container setup: init container failed " +
				"with exit code 3",
		},
		"and while it is tried again": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("setup", nil, watchtest.Runs(4*second), watchtest.ExitedBefore(3, "Error", 1)),
				watchtest.App(watchtest.Waits("PodInitializing", ""))),
			now: 5 * second, stage: v1.StageFailed, cause: "InitFailed",
		},
		"and once it ended well, whatever was before": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("setup", nil, watchtest.ExitedBefore(137, "OOMKilled", 1),
					watchtest.Exits(0, "Completed", 4*second)),
				watchtest.App(watchtest.Runs(5*second))),
			now: 6 * second, stage: v1.StageStarting, message: "app is not ready",
		},
		"a sidecar that has started holds nothing up": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("side", &always, watchtest.Runs(2*second)),
				watchtest.App(watchtest.Runs(2*second))),
			now: 3 * second, stage: v1.StageStarting, message: "side is not ready",
		},
		"a sidecar that has not": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("side", &always, watchtest.Waits("PodInitializing", "")),
				watchtest.App(watchtest.Waits("PodInitializing", ""))),
			now: 3 * second, stage: v1.StageInitializing, message: "side",
		},
		"a sidecar must be ready for Running": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("side", &always, watchtest.Runs(2*second)), watchtest.AppReady),
			now: 9 * second, stage: v1.StageStarting, message: "side is not ready",
		},
		"a sidecar that crashes while an init container still runs": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("side", &always, watchtest.Runs(2*second),
					watchtest.ExitedBefore(1, "Error", 3)),
				watchtest.InitContainer("setup", nil, watchtest.Runs(3*second)),
				watchtest.App(watchtest.Waits("PodInitializing", ""))),
			now: 9 * second, stage: v1.StageFailed, cause: "CrashLoop: container side: crash loop: 3 restarts",
		},
		"init containers one after the other": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.InitContainer("first", nil, watchtest.Exits(0, "Completed", second)),
				watchtest.InitContainer("second", nil, watchtest.Waits("PodInitializing", "")),
				watchtest.App(watchtest.Waits("PodInitializing", ""))),
			now: 60 * second, stage: v1.StageInitializing, message: "second",
		},
		"one of several containers is not ready": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, func(pod *corev1.Pod) {
				pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other", Image: "x/other:1"})
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{
					watchtest.Status("app", []func(*corev1.ContainerStatus){watchtest.Ready(second)}),
					watchtest.Status("other", []func(*corev1.ContainerStatus){watchtest.Runs(second)}),
				}
			}),
			now: 9 * second, stage: v1.StageStarting, message: "other is not ready",
		},
		"the threshold is that of one container, not of all": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, func(pod *corev1.Pod) {
				pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other", Image: "x/other:1"})
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{
					watchtest.Status("app", []func(*corev1.ContainerStatus){
						watchtest.Runs(second),
						watchtest.ExitedBefore(1, "Error", 2),
					}),
					watchtest.Status("other", []func(*corev1.ContainerStatus){
						watchtest.Runs(second),
						watchtest.ExitedBefore(1, "Error", 2),
					}),
				}
			}),
			now: 9 * second, stage: v1.StageStarting, message: "app is not ready, 2 restarts",
		},
		"a readiness gate that is open": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady, func(pod *corev1.Pod) {
				pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
				watchtest.Set(pod, "example.com/lb", corev1.ConditionTrue, 6*time.Second)
			}),
			now: 9 * second, stage: v1.StageRunning,
		},
		"a readiness gate does not hide a container that is not ready": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(second)),
				func(pod *corev1.Pod) {
					pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
				}),
			now: 9 * second, stage: v1.StageStarting, message: "app is not ready",
		},
		"a post-start hook that fails again and again": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Waits("PostStartHookError", "exited with 1"),
					watchtest.ExitedBefore(137, "Error", 3))),
			events: []*corev1.Event{warning("app", "FailedPostStartHook", "PostStartHook failed")},
			now:    60 * second, stage: v1.StageFailed,
			cause: "HookFailed: last exit code 137; its postStart hook failed: exited with 1",
		},
		"a post-start hook that failed once": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Waits("PostStartHookError", "exited with 1"),
					watchtest.ExitedBefore(137, "Error", 1))),
			now: 60 * second, stage: v1.StageStarting, cause: "HookFailed: its postStart hook failed: exited with 1",
		},
		"waiting because it ran out of memory": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Waits("OOMKilled", ""))),
			now: 9 * second, stage: v1.StageFailed,
			cause: "OOMKilled: ran out of memory (OOMKilled); it has no memory limit of its own",
		},
		"running": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady), now: 9 * second,
			stage: v1.StageRunning,
		},
		"ready, but the pod's condition is not there yet": {
			pod:   watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Ready(2*second))),
			now:   9 * second,
			stage: v1.StageStarting,
		},
		"a readiness gate": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady, func(pod *corev1.Pod) {
				pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
			}),
			now: 9 * second, stage: v1.StageStarting, message: "example.com/lb", cause: "ReadinessGate",
		},
		"two restarts are a hiccup": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Exits(1, "Error", 4*second), watchtest.ExitedBefore(1, "Error", 2))),
			now: 5 * second, stage: v1.StageStarting, next: 7 * second,
			cause: "ContainerExited: exit code 1 after 2 restarts",
		},
		"three are a crash loop": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Runs(5*second), watchtest.ExitedBefore(1, "Error", 3))),
			now: 6 * second, stage: v1.StageFailed, cause: "CrashLoop: 3 restarts, last exit code 1",
		},
		"a crash loop is ignored only after 60 s of readiness": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady,
				watchtest.App(watchtest.Ready(5*second), watchtest.ExitedBefore(1, "Error", 3))),
			now: 64 * second, stage: v1.StageFailed, next: 65 * second, cause: "CrashLoop",
		},
		"out of memory": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Waits("CrashLoopBackOff", ""), watchtest.ExitedBefore(137, "OOMKilled", 1))),
			now: 9 * second, stage: v1.StageFailed, cause: "OOMKilled: ran out of memory (OOMKilled)",
		},
		"137 for another reason is not": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Waits("CrashLoopBackOff", ""), watchtest.ExitedBefore(137, "Error", 1))),
			now: 9 * second, stage: v1.StageStarting, cause: "ContainerExited: exit code 137",
		},
		"out of memory before, ready for 59 s": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady,
				watchtest.App(watchtest.Ready(5*second), watchtest.ExitedBefore(137, "OOMKilled", 1))),
			now: 64 * second, stage: v1.StageFailed, next: 65 * second, cause: "OOMKilled",
		},
		"out of memory before, ready for 60 s": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady,
				watchtest.App(watchtest.Ready(5*second), watchtest.ExitedBefore(137, "OOMKilled", 1))),
			now: 65 * second, stage: v1.StageRunning,
		},
		"not restarted": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyNever },
				watchtest.App(watchtest.Exits(2, "Error", second))),
			now: 2 * second, stage: v1.StageFailed, cause: "ContainerExited: exit code 2 and is not restarted",
		},
		"deletion comes before everything": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.Deleting,
				watchtest.App(watchtest.Waits("ImagePullBackOff", "not found"))),
			now: 12 * second, next: 40*second + cause.SilentAfter, stage: v1.StageTerminating,
		},
		"refused by the node": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode, func(pod *corev1.Pod) {
				pod.Status = corev1.PodStatus{
					Phase: corev1.PodFailed, Reason: "OutOfcpu",
					Message: "Node didn't have enough resource",
				}
			}),
			stage: v1.StageFailed, cause: "NodeOutOfResources: OutOfcpu",
		},
		"unschedulable, the cluster grows": {
			pod: watchtest.NewPod("web", "1"),
			events: []*corev1.Event{
				watchtest.Event("web", "1", "", "FailedScheduling",
					"0/3 nodes are available: 3 Insufficient cpu. preemption: no").Warn().Event,
				watchtest.Event("web", "1", "", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2}]").Event,
			},
			stage: v1.StageScheduling, message: "a node is being added",
			cause: "Unschedulable: 0/3 nodes: 3 Insufficient cpu; a node is being added", next: 3 * second,
		},
		"unschedulable, the cluster does not grow": {
			pod: watchtest.NewPod("web", "1"),
			events: []*corev1.Event{
				watchtest.Event("web", "1", "", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.").
					Warn().Event,
				watchtest.Event("web", "1", "", "NotTriggerScaleUp",
					"pod didn't trigger scale-up: max size reached").Event,
			},
			stage: v1.StageScheduling, cause: "Unschedulable: 0/3 nodes: 3 Insufficient cpu", next: 3 * second,
		},
		"no volume for a claim, before there is a node": {
			pod: watchtest.NewPod("web", "1", mounts("data")), claim: pvc("data", corev1.ClaimPending),
			events: []*corev1.Event{claimEvent("data", "FailedBinding", "no persistent volumes available")},
			stage:  v1.StageFailed, cause: "VolumeUnbound: no persistent volumes available",
		},
		"the claim is bound meanwhile": {
			pod: watchtest.NewPod("web", "1", mounts("data")), claim: pvc("data", corev1.ClaimBound),
			events: []*corev1.Event{claimEvent("data", "FailedBinding", "no persistent volumes available")},
			stage:  v1.StageScheduling, next: cause.SilentAfter,
		},
		"a claim that the pod does not mount": {
			pod: watchtest.NewPod("web", "1"), claim: pvc("data", corev1.ClaimPending),
			events: []*corev1.Event{claimEvent("data", "FailedBinding", "no persistent volumes available")},
			stage:  v1.StageScheduling, next: cause.SilentAfter,
		},
		"a claim that waits for its first consumer": {
			pod: watchtest.NewPod("web", "1", mounts("data")), claim: pvc("data", corev1.ClaimPending),
			events: []*corev1.Event{claimEvent("data", "WaitForFirstConsumer", "waiting for first consumer")},
			stage:  v1.StageScheduling,
		},
		"a mount that failed once": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode),
			events: []*corev1.Event{watchtest.Event("web", "1", "", "FailedMount",
				"MountVolume.SetUp failed: rpc error").
				Warn().Event},
			stage: v1.StageStarting,
		},
		"a mount that waits for the kubelet's cache": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode),
			events: []*corev1.Event{watchtest.Event("web", "1", "", "FailedMount", `object "dev"/"cfg" not registered`).
				Warn().
				Times(5).Event},
			stage: v1.StageStarting,
		},
		"a volume still attached elsewhere": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode),
			events: []*corev1.Event{watchtest.Event("web", "1", "", "FailedAttachVolume",
				"Multi-Attach error for volume").
				Warn().Event},
			stage: v1.StageStarting, next: 3 * second, cause: "VolumeNotMounted: Multi-Attach",
		},
		"no sandbox": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode),
			events: []*corev1.Event{watchtest.Event("web", "1", "", "FailedCreatePodSandBox", "plugin type=cni failed").
				Warn().
				Event},
			stage: v1.StageStarting, next: 3 * second, cause: "SandboxFailed: cni",
		},
		"a cause that is ignored by its code": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Waits("ErrImagePull", "x/app:1: not found"))),
			policy: func(p *cause.Policy) { p.IgnoreReasons = []string{cause.ImageNotFound} },
			stage:  v1.StageStarting, next: 3 * second, cause: "ImageNotFound",
		},
		"a cause that is ignored by Kubernetes' word": {
			pod: watchtest.NewPod("web", "1", watchtest.OnNode,
				watchtest.App(watchtest.Waits("ErrImagePull", "x/app:1: not found"))),
			policy: func(p *cause.Policy) { p.IgnoreReasons = []string{"ErrImagePull"} },
			stage:  v1.StageStarting, next: 3 * second, cause: "ImageNotFound",
		},
	} {
		t.Run(name, func(t *testing.T) {
			objects := []runtime.Object{test.pod.Pod}
			if test.claim != nil {
				objects = append(objects, test.claim)
			}
			for _, e := range test.events {
				objects = append(objects, e)
			}
			policy := cause.DefaultPolicy()
			if test.policy != nil {
				test.policy(&policy)
			}
			got, next := Analyze(stateOf(objects...), policy, watchtest.After(test.now))
			if got.Stage != test.stage || !strings.Contains(got.Message, test.message) {
				t.Errorf("%s %q, want %s %q", got.Stage, got.Message, test.stage, test.message)
			}
			wantNext := time.Time{}
			if test.next != 0 {
				wantNext = watchtest.After(test.next)
			}
			if test.next == 0 && next.Sub(watchtest.After(test.now)) > time.Minute {
				next = time.Time{} // that it lasts is worth a word some time
			}
			if !next.Equal(wantNext) {
				t.Errorf("asks again at %s, want %s", next, wantNext)
			}
			compareCause(t, got.Cause, test.cause)
			if ignored := test.policy != nil; ignored != (len(got.Ignored) > 0) {
				t.Errorf("ignored %v", got.Ignored)
			}
		})
	}
}

func compareCause(t *testing.T, got *v1.Cause, want string) {
	t.Helper()
	code, words, _ := strings.Cut(want, ": ")
	switch {
	case got == nil && want == "":
	case got == nil:
		t.Errorf("no cause, want %s", want)
	case got.Code != code || !strings.Contains(got.Message, words):
		t.Errorf("cause %s: %s, want %s", got.Code, got.Message, want)
	}
}

func TestAnalyzeNothing(t *testing.T) {
	got, next := Analyze(NewState(web), cause.DefaultPolicy(), watchtest.Epoch)
	if got.Stage != v1.StageUnknown || got.Gone || got.Cause != nil || !next.IsZero() {
		t.Errorf("%+v, %s", got, next)
	}
}

func TestWarningsAreCounted(t *testing.T) {
	s := stateOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(0))).Pod,
		watchtest.Event("web", "1", "app", "Unhealthy", "Readiness probe failed: dial tcp 10.0.0.1:80").Warn().
			Times(3).Event,
		watchtest.Event("web", "1", "app", "Unhealthy", "Readiness probe failed: dial tcp 10.0.0.2:80").Warn().
			At(watchtest.After(time.Second)).Event,
		watchtest.Event("web", "1", "", "FailedMount", "timed out").Warn().At(watchtest.After(2*time.Second)).Event,
		watchtest.Event("web", "1", "", "Scheduled", "assigned").Event,
	)
	got, _ := Analyze(s, cause.DefaultPolicy(), watchtest.Epoch)
	if len(got.Warnings) != 2 {
		t.Fatalf("%d warnings, want 2: %+v", len(got.Warnings), got.Warnings)
	}
	want := v1.Warning{
		Reason: "Unhealthy", Object: "pod/web:app", Count: 4, At: watchtest.After(time.Second),
		Message: "Readiness probe failed: dial tcp 10.0.0.2:80",
	}
	if got.Warnings[0] != want {
		t.Errorf("%+v, want %+v", got.Warnings[0], want)
	}
}

func mounts(name string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: name},
		}})
	}
}

func pvc(name string, phase corev1.PersistentVolumeClaimPhase) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "dev", UID: "claim", ResourceVersion: "1"},
		Status:     corev1.PersistentVolumeClaimStatus{Phase: phase},
	}
}

func claimEvent(name, reason, message string) *corev1.Event {
	e := watchtest.Event(name, "claim", "", reason, message)
	e.InvolvedObject.Kind = "PersistentVolumeClaim"
	return e.Event
}

func TestSchedulerThatFindsNoPlace(t *testing.T) {
	pod := watchtest.NewPod("web", "1")
	failed := watchtest.Event("web", "1", "", "FailedScheduling",
		"0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.").Warn().Event
	warnings := func(now time.Duration, pod watchtest.MadePod) (lasting int) {
		got, _ := Analyze(stateOf(pod.Pod, failed), cause.DefaultPolicy(), watchtest.After(now))
		for _, w := range got.Warnings {
			if !w.Tentative {
				lasting++
			}
		}
		return lasting
	}
	if n := warnings(2*time.Second, pod); n != 0 {
		t.Errorf("the first attempt fails often and is tentative, got %d", n)
	}
	if n := warnings(3*time.Second, pod); n != 1 {
		t.Errorf("a pod that is still unscheduled needs one warning, got %d", n)
	}
	if n := warnings(5*time.Second, watchtest.NewPod("web", "1", watchtest.OnNode)); n != 0 {
		t.Errorf("a scheduled pod needs no warning, got %d", n)
	}
}
