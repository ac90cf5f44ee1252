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
)

var always = corev1.ContainerRestartPolicyAlways

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
	pulling := event("web", "1", "app", "Pulling", `Pulling image "x/app:1"`).Event
	at := func(e madeEvent, d time.Duration) *corev1.Event { return e.at(after(d)).Event }
	for name, test := range map[string]struct {
		pod     madePod
		events  []*corev1.Event
		claim   *corev1.PersistentVolumeClaim
		policy  func(*Policy)
		now     time.Duration
		stage   v1.Stage
		next    time.Duration // 0 for never
		message string
		cause   string // "Code" or "Code: words"
	}{
		"a pull is not mentioned for 8 s": {
			pod: newPod("web", "1", onNode), events: []*corev1.Event{pulling},
			now: 7 * second, stage: v1.StageStarting, next: 8 * second, message: "app is being created",
		},
		"but then it is": {
			pod: newPod("web", "1", onNode), events: []*corev1.Event{pulling},
			now: 8 * second, stage: v1.StagePulling, message: "app:1",
		},
		"an image that was pulled": {
			pod:    newPod("web", "1", onNode),
			events: []*corev1.Event{pulling, at(event("web", "1", "app", "Pulled", "Successfully pulled"), 3*second)},
			now:    20 * second, stage: v1.StageStarting,
		},
		"an image that is on the node is never pulling": {
			pod:    newPod("web", "1", onNode),
			events: []*corev1.Event{event("web", "1", "app", "Pulled", "already present").Event},
			now:    20 * second, stage: v1.StageStarting,
		},
		"a pull whose end nobody told, but the container runs": {
			pod: newPod("web", "1", onNode, app(runs(6*second))), events: []*corev1.Event{pulling},
			now: 20 * second, stage: v1.StageStarting, message: "app is not ready",
		},
		"no event, but every init container is done": {
			pod: newPod("web", "1", onNode, initContainer("setup", nil, exits(0, "Completed", 2*second)),
				app(waits("PodInitializing", ""))),
			now: 9 * second, stage: v1.StageStarting, next: 10 * second,
		},
		"no event, and a while later": {
			pod: newPod("web", "1", onNode, initContainer("setup", nil, exits(0, "Completed", 2*second)),
				app(waits("PodInitializing", ""))),
			now: 10 * second, stage: v1.StagePulling, message: "app:1",
		},
		"an init container that never ends is not pulling": {
			pod: newPod("web", "1", onNode, initContainer("setup", nil, runs(2*second)), app(waits("PodInitializing", ""))),
			now: time.Hour, stage: v1.StageInitializing, message: "setup",
		},
		"events of a pod before it": {
			pod: newPod("web", "1", onNode),
			events: []*corev1.Event{
				event("web", "0", "app", "Failed", `Failed to pull image "x/app:1": not found`).warn().Event,
				event("web", "0", "app", "Pulling", "").Event,
			},
			now: time.Hour, stage: v1.StageStarting,
		},
		"a failed pull before the status knows": {
			pod: newPod("web", "1", onNode, app(waits("ContainerCreating", ""))),
			events: []*corev1.Event{
				pulling,
				event("web", "1", "app", "Failed", `Failed to pull image "x/app:1": pull access denied for x/app`).warn().Event,
				event("web", "1", "app", "Failed", "Error: ErrImagePull").warn().Event,
			},
			stage: v1.StageFailed, cause: "ImagePullDenied: container app: image x/app:1 cannot be pulled: pull access denied",
		},
		"the cause of a pull stays while backing off": {
			pod: newPod("web", "1", onNode, app(waits("ImagePullBackOff",
				`Back-off pulling image "x/app:1": ErrImagePull: rpc error: code = NotFound desc = failed to pull and unpack image "x/app:1": failed to resolve reference "x/app:1": x/app:1: not found`))),
			stage: v1.StageFailed, cause: "ImageNotFound: container app: image x/app:1 not found",
		},
		"one container fails while another's image still comes": {
			pod: newPod("web", "1", onNode, initContainer("side", &always, runs(0)), func(pod *corev1.Pod) {
				pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other", Image: "x/other:1"})
			}, app(waits("CreateContainerConfigError", `secret "s" not found`))),
			events: []*corev1.Event{event("web", "1", "other", "Pulling", "").Event},
			now:    time.Minute, stage: v1.StageFailed, cause: "ConfigMissing: secret",
		},
		"failed to sync the cache is the node being slow": {
			pod: newPod("web", "1", onNode, app(waits("CreateContainerConfigError",
				"failed to sync configmap cache: timed out waiting for the condition"))),
			stage: v1.StageStarting, cause: "ConfigMissing: failed to sync",
		},
		"exec format error": {
			pod:   newPod("web", "1", onNode, app(waits("RunContainerError", `exec /app: exec format error`))),
			stage: v1.StageFailed, cause: "ExecFormat",
		},
		"an init container's first failure": {
			pod: newPod("web", "1", onNode, initContainer("setup", nil, exits(3, "Error", 2*second)), app(waits("PodInitializing", ""))),
			now: 3 * second, stage: v1.StageFailed, cause: "InitFailed: container setup: init container failed with exit code 3",
		},
		"and while it is tried again": {
			pod: newPod("web", "1", onNode, initContainer("setup", nil, runs(4*second), exitedBefore(3, "Error", 1)),
				app(waits("PodInitializing", ""))),
			now: 5 * second, stage: v1.StageFailed, cause: "InitFailed",
		},
		"and once it ended well, whatever was before": {
			pod: newPod("web", "1", onNode, initContainer("setup", nil, exitedBefore(137, "OOMKilled", 1), exits(0, "Completed", 4*second)),
				app(runs(5*second))),
			now: 6 * second, stage: v1.StageStarting, message: "app is not ready",
		},
		"a sidecar that has started holds nothing up": {
			pod: newPod("web", "1", onNode, initContainer("side", &always, runs(2*second)), app(runs(2*second))),
			now: 3 * second, stage: v1.StageStarting, message: "side is not ready",
		},
		"a sidecar that has not": {
			pod: newPod("web", "1", onNode, initContainer("side", &always, waits("PodInitializing", "")), app(waits("PodInitializing", ""))),
			now: 3 * second, stage: v1.StageInitializing, message: "side",
		},
		"a sidecar must be ready for Running": {
			pod: newPod("web", "1", onNode, initContainer("side", &always, runs(2*second)), appReady),
			now: 9 * second, stage: v1.StageStarting, message: "side is not ready",
		},
		"a sidecar that crashes while an init container still runs": {
			pod: newPod("web", "1", onNode, initContainer("side", &always, runs(2*second), exitedBefore(1, "Error", 3)),
				initContainer("setup", nil, runs(3*second)), app(waits("PodInitializing", ""))),
			now: 9 * second, stage: v1.StageFailed, cause: "CrashLoop: container side: crash loop: 3 restarts",
		},
		"init containers one after the other": {
			pod: newPod("web", "1", onNode, initContainer("first", nil, exits(0, "Completed", second)),
				initContainer("second", nil, waits("PodInitializing", "")), app(waits("PodInitializing", ""))),
			now: 60 * second, stage: v1.StageInitializing, message: "second",
		},
		"one of several containers is not ready": {
			pod: newPod("web", "1", onNode, func(pod *corev1.Pod) {
				pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other", Image: "x/other:1"})
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{
					status("app", []func(*corev1.ContainerStatus){ready(second)}), status("other", []func(*corev1.ContainerStatus){runs(second)}),
				}
			}),
			now: 9 * second, stage: v1.StageStarting, message: "other is not ready",
		},
		"the threshold is that of one container, not of all": {
			pod: newPod("web", "1", onNode, func(pod *corev1.Pod) {
				pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other", Image: "x/other:1"})
				pod.Status.ContainerStatuses = []corev1.ContainerStatus{
					status("app", []func(*corev1.ContainerStatus){runs(second), exitedBefore(1, "Error", 2)}),
					status("other", []func(*corev1.ContainerStatus){runs(second), exitedBefore(1, "Error", 2)}),
				}
			}),
			now: 9 * second, stage: v1.StageStarting, message: "app is not ready, 2 restarts",
		},
		"a readiness gate that is open": {
			pod: newPod("web", "1", onNode, appReady, func(pod *corev1.Pod) {
				pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
				set(pod, "example.com/lb", corev1.ConditionTrue, 6*time.Second)
			}),
			now: 9 * second, stage: v1.StageRunning,
		},
		"a readiness gate does not hide a container that is not ready": {
			pod: newPod("web", "1", onNode, app(runs(second)), func(pod *corev1.Pod) {
				pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
			}),
			now: 9 * second, stage: v1.StageStarting, message: "app is not ready",
		},
		"a post-start hook that fails again and again": {
			pod:    newPod("web", "1", onNode, app(waits("PostStartHookError", "exited with 1"), exitedBefore(137, "Error", 3))),
			events: []*corev1.Event{warning("app", "FailedPostStartHook", "PostStartHook failed")},
			now:    60 * second, stage: v1.StageFailed, cause: "CrashLoop: last exit code 137; its post-start hook failed: PostStartHook failed",
		},
		"a post-start hook that failed once": {
			pod: newPod("web", "1", onNode, app(waits("PostStartHookError", "exited with 1"), exitedBefore(137, "Error", 1))),
			now: 60 * second, stage: v1.StageStarting, cause: "StartFailed: exited with 1",
		},
		"waiting because it ran out of memory": {
			pod: newPod("web", "1", onNode, app(waits("OOMKilled", ""))),
			now: 9 * second, stage: v1.StageFailed, cause: "OOMKilled: ran out of memory",
		},
		"running": {
			pod: newPod("web", "1", onNode, appReady), now: 9 * second, stage: v1.StageRunning,
		},
		"ready, but the pod's condition is not there yet": {
			pod: newPod("web", "1", onNode, app(ready(2*second))), now: 9 * second, stage: v1.StageStarting,
		},
		"a readiness gate": {
			pod: newPod("web", "1", onNode, appReady, func(pod *corev1.Pod) {
				pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
			}),
			now: 9 * second, stage: v1.StageStarting, message: "example.com/lb", cause: "ReadinessGate",
		},
		"two restarts are a hiccup": {
			pod: newPod("web", "1", onNode, app(exits(1, "Error", 4*second), exitedBefore(1, "Error", 2))),
			now: 5 * second, stage: v1.StageStarting, cause: "ContainerExited: exit code 1 after 2 restarts",
		},
		"three are a crash loop": {
			pod: newPod("web", "1", onNode, app(runs(5*second), exitedBefore(1, "Error", 3))),
			now: 6 * second, stage: v1.StageFailed, cause: "CrashLoop: 3 restarts, last exit code 1",
		},
		"a crash loop is forgiven only after 60 s of readiness": {
			pod: newPod("web", "1", onNode, appReady, app(ready(5*second), exitedBefore(1, "Error", 3))),
			now: 64 * second, stage: v1.StageFailed, next: 65 * second, cause: "CrashLoop",
		},
		"out of memory": {
			pod: newPod("web", "1", onNode, app(waits("CrashLoopBackOff", ""), exitedBefore(137, "OOMKilled", 1))),
			now: 9 * second, stage: v1.StageFailed, cause: "OOMKilled: ran out of memory (OOMKilled)",
		},
		"137 for another reason is not": {
			pod: newPod("web", "1", onNode, app(waits("CrashLoopBackOff", ""), exitedBefore(137, "Error", 1))),
			now: 9 * second, stage: v1.StageStarting, cause: "ContainerExited: exit code 137",
		},
		"out of memory before, ready for 59 s": {
			pod: newPod("web", "1", onNode, appReady, app(ready(5*second), exitedBefore(137, "OOMKilled", 1))),
			now: 64 * second, stage: v1.StageFailed, next: 65 * second, cause: "OOMKilled",
		},
		"out of memory before, ready for 60 s": {
			pod: newPod("web", "1", onNode, appReady, app(ready(5*second), exitedBefore(137, "OOMKilled", 1))),
			now: 65 * second, stage: v1.StageRunning,
		},
		"not restarted": {
			pod: newPod("web", "1", onNode, func(pod *corev1.Pod) { pod.Spec.RestartPolicy = corev1.RestartPolicyNever },
				app(exits(2, "Error", second))),
			now: 2 * second, stage: v1.StageFailed, cause: "ContainerExited: exit code 2 and is not restarted",
		},
		"deletion comes before everything": {
			pod: newPod("web", "1", onNode, deleting, app(waits("ImagePullBackOff", "not found"))),
			now: 12 * second, stage: v1.StageTerminating,
		},
		"refused by the node": {
			pod: newPod("web", "1", onNode, func(pod *corev1.Pod) {
				pod.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "OutOfcpu", Message: "Node didn't have enough resource"}
			}),
			stage: v1.StageFailed, cause: "NodeOutOfResources: OutOfcpu",
		},
		"unschedulable, the cluster grows": {
			pod: newPod("web", "1"),
			events: []*corev1.Event{
				event("web", "1", "", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu. preemption: no").warn().Event,
				event("web", "1", "", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2}]").Event,
			},
			stage: v1.StageScheduling, message: "a node is being added", cause: "Unschedulable: 0/3 nodes: 3 Insufficient cpu; a node is being added", next: 2 * time.Second,
		},
		"unschedulable, the cluster does not grow": {
			pod: newPod("web", "1"),
			events: []*corev1.Event{
				event("web", "1", "", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.").warn().Event,
				event("web", "1", "", "NotTriggerScaleUp", "pod didn't trigger scale-up: max size reached").Event,
			},
			stage: v1.StageScheduling, cause: "Unschedulable: 0/3 nodes: 3 Insufficient cpu", next: 2 * time.Second,
		},
		"no volume for a claim, before there is a node": {
			pod: newPod("web", "1", mounts("data")), claim: pvc("data", corev1.ClaimPending),
			events: []*corev1.Event{claimEvent("data", "FailedBinding", "no persistent volumes available")},
			stage:  v1.StageFailed, cause: "VolumeUnbound: no persistent volumes available",
		},
		"the claim is bound by now": {
			pod: newPod("web", "1", mounts("data")), claim: pvc("data", corev1.ClaimBound),
			events: []*corev1.Event{claimEvent("data", "FailedBinding", "no persistent volumes available")},
			stage:  v1.StageScheduling,
		},
		"a claim that the pod does not mount": {
			pod: newPod("web", "1"), claim: pvc("data", corev1.ClaimPending),
			events: []*corev1.Event{claimEvent("data", "FailedBinding", "no persistent volumes available")},
			stage:  v1.StageScheduling,
		},
		"a claim that waits for its first consumer": {
			pod: newPod("web", "1", mounts("data")), claim: pvc("data", corev1.ClaimPending),
			events: []*corev1.Event{claimEvent("data", "WaitForFirstConsumer", "waiting for first consumer")},
			stage:  v1.StageScheduling,
		},
		"a mount that failed once": {
			pod:    newPod("web", "1", onNode),
			events: []*corev1.Event{event("web", "1", "", "FailedMount", "MountVolume.SetUp failed: rpc error").warn().Event},
			stage:  v1.StageStarting,
		},
		"a mount that waits for the kubelet's cache": {
			pod:    newPod("web", "1", onNode),
			events: []*corev1.Event{event("web", "1", "", "FailedMount", `object "dev"/"cfg" not registered`).warn().times(5).Event},
			stage:  v1.StageStarting,
		},
		"a volume still attached elsewhere": {
			pod:    newPod("web", "1", onNode),
			events: []*corev1.Event{event("web", "1", "", "FailedAttachVolume", "Multi-Attach error for volume").warn().Event},
			stage:  v1.StageStarting, cause: "VolumeNotMounted: Multi-Attach",
		},
		"no sandbox": {
			pod:    newPod("web", "1", onNode),
			events: []*corev1.Event{event("web", "1", "", "FailedCreatePodSandBox", "plugin type=cni failed").warn().Event},
			stage:  v1.StageStarting, cause: "SandboxFailed: cni",
		},
		"a cause that is ignored by its code": {
			pod:    newPod("web", "1", onNode, app(waits("ErrImagePull", "x/app:1: not found"))),
			policy: func(p *Policy) { p.IgnoreReasons = []string{CauseImageNotFound} },
			stage:  v1.StageStarting, cause: "ImageNotFound",
		},
		"a cause that is ignored by Kubernetes' word": {
			pod:    newPod("web", "1", onNode, app(waits("ErrImagePull", "x/app:1: not found"))),
			policy: func(p *Policy) { p.IgnoreReasons = []string{"ErrImagePull"} },
			stage:  v1.StageStarting, cause: "ImageNotFound",
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
			policy := DefaultPolicy()
			if test.policy != nil {
				test.policy(&policy)
			}
			got, next := Analyze(stateOf(objects...), policy, after(test.now))
			if got.Stage != test.stage || !strings.Contains(got.Message, test.message) {
				t.Errorf("%s %q, want %s %q", got.Stage, got.Message, test.stage, test.message)
			}
			wantNext := time.Time{}
			if test.next != 0 {
				wantNext = after(test.next)
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
	got, next := Analyze(NewState(web), DefaultPolicy(), epoch)
	if got.Stage != v1.StageUnknown || got.Gone || got.Cause != nil || !next.IsZero() {
		t.Errorf("%+v, %s", got, next)
	}
}

func TestWarningsAreCounted(t *testing.T) {
	s := stateOf(newPod("web", "1", onNode, app(runs(0))).Pod,
		event("web", "1", "app", "Unhealthy", "Readiness probe failed: dial tcp 10.0.0.1:80").warn().times(3).Event,
		event("web", "1", "app", "Unhealthy", "Readiness probe failed: dial tcp 10.0.0.2:80").warn().at(after(time.Second)).Event,
		event("web", "1", "", "FailedMount", "timed out").warn().at(after(2*time.Second)).Event,
		event("web", "1", "", "Scheduled", "assigned").Event,
	)
	got, _ := Analyze(s, DefaultPolicy(), epoch)
	if len(got.Warnings) != 2 {
		t.Fatalf("%d warnings, want 2: %+v", len(got.Warnings), got.Warnings)
	}
	want := v1.Warning{
		Reason: "Unhealthy", Object: "pod/web:app", Count: 4, At: after(time.Second),
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
	e := event(name, "claim", "", reason, message)
	e.InvolvedObject.Kind = "PersistentVolumeClaim"
	return e.Event
}

func TestSchedulerThatFindsNoPlace(t *testing.T) {
	pod := newPod("web", "1")
	failed := event("web", "1", "", "FailedScheduling", "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.").warn().Event
	warnings := func(now time.Duration, pod madePod) int {
		got, _ := Analyze(stateOf(pod.Pod, failed), DefaultPolicy(), after(now))
		return len(got.Warnings)
	}
	if n := warnings(time.Second, pod); n != 0 {
		t.Errorf("the first attempt fails often and is no warning, got %d", n)
	}
	if n := warnings(2*time.Second, pod); n != 1 {
		t.Errorf("who still has no place is warned of, got %d", n)
	}
	if n := warnings(5*time.Second, newPod("web", "1", onNode)); n != 0 {
		t.Errorf("who has a place is not, got %d", n)
	}
}
