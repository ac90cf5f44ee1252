package watch

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// spoken is what the API server says at a moment.
type spoken struct {
	after  time.Duration
	object runtime.Object
	change watch.EventType // Modified if empty
}

// at reports an object a number of seconds after the pod was made. Events carry the
// time of the report.
func at(seconds int, object runtime.Object) spoken {
	d := time.Duration(seconds) * time.Second
	if e, ok := object.(*corev1.Event); ok {
		e = e.DeepCopy()
		e.LastTimestamp, e.FirstTimestamp = metav1.NewTime(watchtest.After(d)), metav1.NewTime(watchtest.After(d))
		object = e
	}
	return spoken{after: d, object: object}
}

// quiet is a moment at which nothing is reported.
func quiet(seconds int) spoken { return spoken{after: time.Duration(seconds) * time.Second} }

func removed(seconds int, object runtime.Object) spoken {
	s := at(seconds, object)
	s.change = watch.Deleted
	return s
}

// replay applies the reports and returns the stages in their order, the last
// reading, and every warning that there was.
func replay(subject Subject, p cause.Policy, said []spoken) (stages []v1.Stage, last v1.Snapshot, warnings []string) {
	var history []Record
	for i, s := range said {
		if s.change == "" {
			s.change = watch.Modified
		}
		r := Record{At: watchtest.After(s.after), Type: s.change}
		if s.object != nil {
			r.Object = s.object.DeepCopyObject()
			if o, ok := r.Object.(metav1.Object); ok {
				o.SetResourceVersion(strconv.Itoa(i + 1))
			}
		}
		history = append(history, r)
	}
	Replay(subject, history, p, func(_ time.Time, s v1.Snapshot) {
		if len(stages) == 0 || stages[len(stages)-1] != s.Stage {
			stages = append(stages, s.Stage)
		}
		for _, w := range s.Warnings {
			if line := w.Reason + ": " + w.Message; !slices.Contains(warnings, line) {
				warnings = append(warnings, line)
			}
		}
		last = s
	})
	return stages, last, warnings
}

const (
	scheduling   = v1.StageScheduling
	pulling      = v1.StagePulling
	initializing = v1.StageInitializing
	starting     = v1.StageStarting
	running      = v1.StageRunning
	failed       = v1.StageFailed
	terminating  = v1.StageTerminating
)

// realCase is a case that other tools were seen to get wrong.
type realCase struct {
	name     string
	subject  Subject // the pod web if empty
	said     []spoken
	stages   []v1.Stage // all of them, in their order
	message  string     // part of the last one
	cause    string     // "Code: words" of the last reading
	warnings []string   // each is part of one
	verdict  v1.Verdict // waiting if empty
}

// The cases by their number and sentence. 20 and 21 are about provisioning and
// are in its tests; what to check in case 10 is in those of package judge.
func TestRealCases(t *testing.T) {
	for _, c := range slices.Concat(placeCases(), imageCases(), containerCases(), workloadCases()) {
		t.Run(c.name, func(t *testing.T) {
			subject := c.subject
			if subject.Name == "" {
				subject = web
			}
			stages, last, warnings := replay(subject, cause.DefaultPolicy(), c.said)
			if !slices.Equal(stages, c.stages) {
				t.Errorf("stages %v, want %v", stages, c.stages)
			}
			if !strings.Contains(last.Message, c.message) {
				t.Errorf("message %q, want %q", last.Message, c.message)
			}
			want := c.verdict
			if want == "" {
				want = v1.VerdictWaiting
			}
			if last.Verdict() != want {
				t.Errorf("verdict %s, want %s", last.Verdict(), want)
			}
			checkRealCause(t, last.Cause, c.cause)
			for _, words := range c.warnings {
				if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, words) }) {
					t.Errorf("no warning says %q: %q", words, warnings)
				}
			}
		})
	}
}

func checkRealCause(t *testing.T, cause *v1.Cause, want string) {
	t.Helper()
	if want == "" && cause != nil {
		t.Errorf("cause %s: %s, want none", cause.Code, cause.Message)
	}
	compareCause(t, cause, want)
}

// webPod is the pod web as it is at a moment.
func webPod(changes ...func(*corev1.Pod)) *corev1.Pod {
	return watchtest.NewPod("web", "1", changes...).Pod
}

func about(container, reason, message string) *corev1.Event {
	return watchtest.Event("web", "1", container, reason, message).Event
}

func warning(container, reason, message string) *corev1.Event {
	return watchtest.Event("web", "1", container, reason, message).Warn().Event
}

func placeCases() []realCase {
	noCPU := warning("", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu. preemption: none")
	unbound := warning("", "FailedScheduling",
		"0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims.")
	inUse := `Multi-Attach error for volume "pvc-1" Volume is already used by pod(s) old`
	return []realCase{
		{
			name: "case 1 FailedScheduling for seconds, then Scheduled: wait",
			said: []spoken{
				at(0, webPod()), at(1, noCPU), quiet(5), at(6, webPod(watchtest.OnNode)),
				at(9, webPod(watchtest.OnNode, watchtest.AppReady)),
			},
			stages: []v1.Stage{scheduling, starting, running}, verdict: v1.VerdictRunning,
		},
		{
			name: "case 2 FailedScheduling, then TriggeredScaleUp / Nominated: wait and say the cluster is growing",
			said: []spoken{
				at(0, webPod()), at(1, noCPU),
				at(11, about("", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2 (max: 9)}]")),
				at(12, about("", "Nominated", "Pod should schedule on: nodeclaim/pool-x")), quiet(3600),
			},
			stages: []v1.Stage{scheduling}, message: "a node is being added",
			cause: "Unschedulable: 0/3 nodes: 3 Insufficient cpu; a node is being added: Pod should schedule on",
		},
		{
			name: "case 3 NotTriggerScaleUp: warn with its text",
			said: []spoken{
				at(0, webPod()), at(1, noCPU),
				at(11, about("", "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached")),
			},
			stages: []v1.Stage{scheduling}, cause: "Unschedulable: 3 Insufficient cpu",
			warnings: []string{"NotTriggerScaleUp: pod didn't trigger scale-up: 1 max node group size reached"},
		},
		{
			name: "case 4 Unbound immediate PVC for seconds: wait",
			said: []spoken{
				at(0, pvc("data", corev1.ClaimPending)), at(0, webPod(mounts("data"))), at(1, unbound),
				at(1, claimEvent("data", "ExternalProvisioning", "waiting for a volume to be created")),
				at(4, pvc("data", corev1.ClaimBound)), at(5, webPod(mounts("data"), watchtest.OnNode)),
			},
			stages: []v1.Stage{v1.StageUnknown, scheduling, starting},
		},
		{
			name: "case 5 PVC pending with WaitForFirstConsumer: never block on it",
			said: []spoken{
				at(0, pvc("data", corev1.ClaimPending)), at(0, webPod(mounts("data"))),
				at(1, claimEvent("data", "WaitForFirstConsumer",
					"waiting for first consumer to be created before binding")),
				quiet(3600),
			},
			stages: []v1.Stage{v1.StageUnknown, scheduling},
		},
		{
			name: "case 6 FailedMount once or twice: warn",
			said: []spoken{
				at(0, webPod(watchtest.OnNode)),
				at(2, watchtest.Event("web", "1", "", "FailedMount", "MountVolume.SetUp failed: rpc error").Warn().
					Times(2).
					Event), quiet(60),
			},
			stages: []v1.Stage{starting}, warnings: []string{"FailedMount: MountVolume.SetUp failed: rpc error"},
		},
		{
			name: "case 7 FailedMount `object … not registered`: wait",
			said: []spoken{
				at(0, webPod(watchtest.OnNode)),
				at(2, watchtest.Event("web", "1", "", "FailedMount", `object "dev"/"cfg" not registered`).Warn().
					Times(9).Event),
				quiet(60),
			},
			stages: []v1.Stage{starting},
		},
		{
			name: "case 8 Multi-Attach: up to 6 minutes, warn",
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(1, warning("", "FailedAttachVolume", inUse)),
				at(120, warning("", "FailedMount",
					"Unable to attach or mount volumes: unmounted volumes=[data]: context deadline exceeded")),
				quiet(360),
			},
			stages: []v1.Stage{starting}, cause: "VolumeNotMounted: Multi-Attach error",
			warnings: []string{"FailedAttachVolume: Multi-Attach"},
		},
		{
			name: "case 9 FailedCreatePodSandBox: warn with its text",
			said: []spoken{
				at(0, webPod(watchtest.OnNode)),
				at(2, warning("", "FailedCreatePodSandBox", "plugin type=\"loopback\" failed: no such file")),
				quiet(60),
			},
			stages: []v1.Stage{starting}, cause: "SandboxFailed: loopback",
			warnings: []string{`FailedCreatePodSandBox: plugin type="loopback" failed`},
		},
	}
}

func imageCases() []realCase {
	begun := about("app", "Pulling", `Pulling image "x/app:1"`)
	return []realCase{
		{
			name: `case 10 pull "not found": fail with what to check (tag)`,
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(1, begun),
				at(2, warning("app", "Failed",
					`Failed to pull image "x/app:1": rpc error: code = NotFound desc = x/app:1: not found`)),
			},
			stages: []v1.Stage{starting, failed}, cause: "ImageNotFound: container app: image x/app:1 not found",
			verdict: v1.VerdictFailed,
		},
		{
			name: `case 10 "pull access denied": fail with what to check (pull secret)`,
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(1, begun),
				at(2, webPod(watchtest.OnNode,
					watchtest.App(watchtest.Waits("ErrImagePull",
						"pull access denied, repository does not exist or may require authorization")))),
			},
			stages: []v1.Stage{starting, failed}, cause: "ImagePullDenied: pull access denied",
			verdict: v1.VerdictFailed,
		},
		{
			name: "case 11 A 50 GB image: Pulling is progress, not a hang",
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(1, begun), quiet(7200),
				at(7201, about("app", "Pulled", "Successfully pulled image in 2h0m0s. Image size: 50000000000 bytes.")),
				at(7205, webPod(watchtest.OnNode, watchtest.AppReady)),
			},
			stages: []v1.Stage{starting, pulling, starting, running}, verdict: v1.VerdictRunning,
		},
		{
			name: "case 12 Init container that never ends: Initializing, naming it, never Pulling",
			said: []spoken{
				at(0, webPod(watchtest.OnNode, watchtest.InitContainer("setup", nil,
					watchtest.Waits("PodInitializing", "")), watchtest.App(watchtest.Waits("PodInitializing", "")))),
				at(1, webPod(watchtest.OnNode, watchtest.InitContainer("setup", nil, watchtest.Runs(time.Second)),
					watchtest.App(watchtest.Waits("PodInitializing", "")))), quiet(7200),
			},
			stages: []v1.Stage{initializing}, message: "setup",
			cause: "SlowInit: container setup: init container has been running for more than an hour",
		},
	}
}

func containerCases() []realCase {
	crashed := func(seconds int, restarts int32) *corev1.Pod {
		return webPod(watchtest.OnNode,
			watchtest.App(watchtest.Exits(1, "Error", time.Duration(seconds)*time.Second),
				watchtest.ExitedBefore(1, "Error", restarts)))
	}
	limited := func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Limits = memory("64Mi") }
	return []realCase{
		{
			name: "case 13 A main container's exit 1 once or twice, then up: no failure at or below the threshold",
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(2, crashed(2, 0)), at(3, crashed(3, 1)),
				at(4, warning("app", "BackOff", "Back-off restarting failed container app")),
				at(9, webPod(watchtest.OnNode,
					watchtest.App(watchtest.Runs(9*time.Second), watchtest.ExitedBefore(1, "Error", 2)))),
				at(12, webPod(watchtest.OnNode, watchtest.AppReady,
					watchtest.App(watchtest.Ready(9*time.Second), watchtest.ExitedBefore(1, "Error", 2)))),
			},
			stages: []v1.Stage{starting, running}, verdict: v1.VerdictRunning,
			warnings: []string{"BackOff: Back-off restarting"},
		},
		{
			name: "case 14 Readiness failures on a terminating pod: not ours",
			said: []spoken{
				at(0, webPod(watchtest.OnNode, watchtest.AppReady)),
				at(20, webPod(watchtest.OnNode, watchtest.AppReady, watchtest.Deleting)),
				at(21, warning("app", "Unhealthy", "Readiness probe failed: connection refused")),
				at(22, webPod(watchtest.OnNode, watchtest.Deleting,
					watchtest.App(watchtest.Exits(137, "Error", 22*time.Second),
						watchtest.ExitedBefore(1, "Error", 5)))),
			},
			stages: []v1.Stage{running, terminating}, verdict: v1.VerdictTerminating,
		},
		{
			name: "case 15 OOM in lastState with CrashLoopBackOff: say out of memory and the limit",
			said: []spoken{
				at(0, webPod(watchtest.OnNode, limited)),
				at(5, webPod(watchtest.OnNode, limited,
					watchtest.App(watchtest.Waits("CrashLoopBackOff", "back-off 10s"),
						watchtest.ExitedBefore(137, "OOMKilled", 1)))),
			},
			stages: []v1.Stage{starting, failed}, verdict: v1.VerdictFailed,
			cause: "OOMKilled: ran out of memory (OOMKilled), its limit is 64Mi",
		},
		{
			name: "case 16 Exit 137 with reason Error: do not say OOM",
			said: []spoken{
				at(0, webPod(watchtest.OnNode, limited)),
				at(5, webPod(watchtest.OnNode, limited,
					watchtest.App(watchtest.Runs(5*time.Second), watchtest.ExitedBefore(137, "Error", 3)))),
			},
			stages: []v1.Stage{starting, failed}, verdict: v1.VerdictFailed,
			cause: "CrashLoop: 3 restarts, last exit code 137",
		},
		{
			name: "case 19 Evicted bare pod: failed",
			said: []spoken{
				at(0, webPod(watchtest.OnNode, watchtest.AppReady)), at(60, webPod(watchtest.OnNode, evicted)),
			},
			stages: []v1.Stage{running, failed}, verdict: v1.VerdictFailed, cause: "Evicted: low on resource: memory",
		},
		{
			name: "case 22 Pod deleted by somebody while waiting: say so at once",
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), removed(5, webPod(watchtest.OnNode)),
			},
			stages: []v1.Stage{starting, v1.StageUnknown}, verdict: v1.VerdictGone, message: "deleted",
			cause: "PodDeleted: pod/web was deleted",
		},
	}
}

func workloadCases() []realCase {
	deploy := Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"}
	crashing := watchtest.App(watchtest.Exits(1, "Error", 0), watchtest.ExitedBefore(1, "Error", 9))
	oldPod := watchtest.Owned("a", watchtest.OnNode, crashing).Pod
	oldPod.UID = "old"
	serving := watchtest.Owned("a", watchtest.OnNode, watchtest.AppReady).Pod
	serving.UID = "old"
	newPod := watchtest.Owned("b", watchtest.OnNode).Pod
	refused := replicaSet("b", "2")
	refused.Status.Conditions = noRoom()
	successor := watchtest.Owned("b", watchtest.OnNode, watchtest.AppReady).Pod
	successor.Name, successor.UID = "web-b-y", "successor"
	return []realCase{
		{
			name: "case 14 Crash of an old revision's pod: not ours", subject: deploy,
			said: []spoken{
				at(0, watchtest.Deployment(2, 2)), at(0, replicaSet("a", "1")), at(0, replicaSet("b", "2")),
				at(0, newPod),
				at(1, oldPod),
			},
			stages: []v1.Stage{scheduling, starting},
		},
		{
			name:    "case 17 Deployment condition ProgressDeadlineExceeded left from an older generation: ignore",
			subject: deploy,
			said: []spoken{
				at(0, watchtest.Deployment(3, 2, late)), at(0, replicaSet("a", "1")), at(0, replicaSet("b", "2")),
				at(1, watchtest.Deployment(3, 3)), at(1, newPod),
			},
			stages: []v1.Stage{scheduling, starting},
		},
		{
			name:    "case 18 Quota FailedCreate: explain with its numbers while the old pods keep serving",
			subject: deploy,
			said: []spoken{
				at(0, watchtest.Deployment(2, 2, func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 1 })),
				at(0, replicaSet("a", "1")), at(0, refused), at(0, serving),
			},
			stages: []v1.Stage{scheduling}, message: "1 pod of the revision before still ready",
			cause: "QuotaExceeded: requested: requests.cpu=2, used: requests.cpu=3, limited: requests.cpu=4",
		},
		{
			name: "case 19 Evicted pod of a controller: follow its successor", subject: deploy,
			said: []spoken{
				at(0, watchtest.Deployment(2, 2)), at(0, replicaSet("b", "2")), at(0, newPod),
				at(9, watchtest.Owned("b", watchtest.OnNode, evicted).Pod),
				at(10, successor), at(11, watchtest.Deployment(2, 2, watchtest.Available)),
			},
			stages: []v1.Stage{scheduling, starting, scheduling, starting, running}, verdict: v1.VerdictRunning,
		},
	}
}

func evicted(pod *corev1.Pod) {
	pod.Status = corev1.PodStatus{
		Phase: corev1.PodFailed, Reason: "Evicted",
		Message: "The node was low on resource: memory.",
	}
}

func memory(limit string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(limit)}
}

// noRoom is what a ReplicaSet says of a pod that the quota does not allow.
func noRoom() []appsv1.ReplicaSetCondition {
	return []appsv1.ReplicaSetCondition{{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue, Reason: "FailedCreate",
		Message: `pods "web-b-x" is forbidden: exceeded quota: q, requested: requests.cpu=2, used: requests.cpu=3, ` +
			`limited: requests.cpu=4`,
	}}
}
