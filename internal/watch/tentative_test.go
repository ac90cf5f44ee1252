package watch

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// A stage's cause is tentative for 3 s, counted from when it began by the
// cluster's own times. The reading asks to be made again when they are over.
func TestTentativeCauses(t *testing.T) {
	second := time.Second
	pod := func(changes ...func(*corev1.Pod)) *corev1.Pod { return watchtest.NewPod("web", "1", changes...).Pod }
	app := func(changes ...func(*corev1.ContainerStatus)) *corev1.Pod {
		return pod(watchtest.OnNode, watchtest.App(changes...))
	}
	said := func(at, again time.Duration, container, reason, message string) *corev1.Event {
		e := warning(container, reason, message)
		e.FirstTimestamp, e.LastTimestamp = metav1.NewTime(watchtest.After(at)), metav1.NewTime(watchtest.After(again))
		return e
	}
	unbound := "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
	provisioning := said(second, 2*second, "", "ProvisioningFailed", "not yet")
	provisioning.InvolvedObject = corev1.ObjectReference{Kind: "PersistentVolumeClaim", Name: "data", UID: "claim"}
	for name, test := range map[string]struct {
		state  State
		policy cause.Policy
		begun  time.Duration
		cause  string
	}{
		"unscheduled, by the condition": {
			state: stateOf(pod(unscheduled(unbound, 2*second))),
			begun: 2 * second, cause: cause.Unschedulable,
		},
		"unscheduled, by the event": {
			state: stateOf(pod(), said(second, 2*second, "", "FailedScheduling", unbound)),
			begun: second, cause: cause.Unschedulable,
		},
		"a grace period that begins later": {
			state: stateOf(pod(unscheduled(unbound, second)), said(3*second, 3*second, "", "TriggeredScaleUp",
				"1->2")),
			policy: patient(), begun: second, cause: cause.Unschedulable,
		},
		"a claim": {
			state: stateOf(pod(mounts("data")), pvc("data", corev1.ClaimPending), provisioning),
			begun: second, cause: cause.VolumePending,
		},
		"a sandbox": {
			state: stateOf(pod(watchtest.OnNode), said(second, 2*second, "", "FailedCreatePodSandBox", "no")),
			begun: second, cause: cause.SandboxFailed,
		},
		"a probe, of the instance that runs": {
			state: stateOf(app(watchtest.Runs(4*second)), said(second, 5*second, "app", "Unhealthy", "no")),
			begun: 4 * second, cause: cause.ProbeFailed,
		},
		"a crash": {
			state: stateOf(app(watchtest.Exits(1, "Error", 5*second))),
			begun: 5 * second, cause: cause.ContainerExited,
		},
		"nothing says since when": {
			state: stateOf(app(watchtest.Waits("CreateContainerConfigError", "failed to sync secret cache"))),
			begun: 0, cause: cause.RuntimeSlow,
		},
		"of a workload's pod": {
			state: deploymentState(replicaSet("b", "2"), watchtest.Owned("b", unscheduled(unbound, 2*second)).Pod),
			begun: 2 * second, cause: cause.Unschedulable,
		},
		"of a workload without pods": {
			state: deploymentState(refusing(replicaSet("b", "2"), "exceeded quota: small", 6*second)),
			begun: 6 * second, cause: cause.QuotaExceeded,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if test.policy.Name == "" {
				test.policy = cause.DefaultPolicy()
			}
			due := test.begun + 3*second
			got, next := Analyze(test.state, test.policy, watchtest.After(due-time.Millisecond))
			if got.Cause == nil || got.Cause.Code != test.cause || !got.Cause.Tentative ||
				!next.Equal(watchtest.After(due)) {
				t.Errorf("before: %+v, asks again at %s", got.Cause, next)
			}
			got, next = Analyze(test.state, test.policy, watchtest.After(due))
			if got.Cause == nil || got.Cause.Code != test.cause || got.Cause.Tentative ||
				next.Equal(watchtest.After(due)) {
				t.Errorf("after: %+v, asks again at %s", got.Cause, next)
			}
		})
	}
}

// A clock that is behind the cluster's does not hide for how long a cause has
// lasted: one reading is all that a list makes.
func TestLateClock(t *testing.T) {
	pod := watchtest.NewPod("web", "1", unscheduled("0/1 nodes are available: 1 Insufficient cpu.", 0)).Pod
	written := pod.DeepCopy()
	at := metav1.NewTime(watchtest.After(time.Minute))
	written.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &at}}
	again := warning("", "FailedScheduling", "0/1 nodes are available: 1 Insufficient cpu.")
	again.FirstTimestamp, again.LastTimestamp = metav1.NewTime(watchtest.Epoch), at
	for name, state := range map[string]State{
		"the condition":    stateOf(pod),
		"the last write":   stateOf(written),
		"the latest event": stateOf(pod, again),
		"a workload's pod": deploymentState(replicaSet("b", "2"), watchtest.Owned("b", unscheduled("no", 0)).Pod),
		"a workload":       deploymentState(refusing(replicaSet("b", "2"), "exceeded quota: small", 0)),
	} {
		for _, late := range []time.Duration{time.Second, 10 * time.Minute} {
			got, next := Analyze(state, cause.DefaultPolicy(), watchtest.After(-late))
			if got.Cause == nil || got.Cause.Tentative || !next.IsZero() {
				t.Errorf("%s, %s late: %+v, asks again at %s", name, late, got.Cause, next)
			}
		}
	}
	for name, state := range map[string]State{
		"the last write":   stateOf(written),
		"the latest event": stateOf(pod, again),
	} {
		// The cause begins before what the clock says, and has lasted longer than it knows.
		if got, next := Analyze(state, cause.DefaultPolicy(), watchtest.After(time.Second)); got.Cause == nil ||
			got.Cause.Tentative || !next.IsZero() {
			t.Errorf("%s, after the beginning: %+v, asks again at %s", name, got.Cause, next)
		}
	}
	if got, _ := AnalyzePods(stateOf(pod), cause.DefaultPolicy(), watchtest.After(-time.Minute)); got.Cause == nil ||
		got.Cause.Tentative {
		t.Errorf("pods alone: %+v", got.Cause)
	}
}

// The newest time of a state is that of whatever object has it.
func TestNewest(t *testing.T) {
	made := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Name: "data", UID: "c",
		CreationTimestamp: metav1.NewTime(watchtest.After(time.Hour)),
	}}
	renewed := metav1.NewMicroTime(watchtest.After(2 * time.Hour))
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "node1", UID: "l"},
		Spec:       coordinationv1.LeaseSpec{RenewTime: &renewed},
	}
	pod := watchtest.NewPod("web", "1", unscheduled("no", 3*time.Minute)).Pod
	for _, test := range []struct {
		s    State
		want time.Duration
	}{
		{stateOf(pod), 3 * time.Minute},
		{stateOf(pod).Apply(watch.Added, made), time.Hour},
		{stateOf(pod).Apply(watch.Added, made).Apply(watch.Added, lease), 2 * time.Hour},
	} {
		if got := test.s.Newest(); !got.Equal(watchtest.After(test.want)) {
			t.Errorf("%s, want it after %s", got, test.want)
		}
	}
}

// The scheduler's warning is handed out from the start, and tentative as long as the cause is.
func TestTentativeWarning(t *testing.T) {
	unbound := "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims."
	failed := warning("", "FailedScheduling", unbound)
	failed.FirstTimestamp, failed.LastTimestamp = metav1.NewTime(watchtest.After(5*time.Second)),
		metav1.NewTime(watchtest.After(5*time.Second))
	pod := watchtest.NewPod("web", "1", unscheduled(unbound, 5*time.Second)).Pod
	ofReplica := failed.DeepCopy()
	ofReplica.InvolvedObject.UID = "pod"
	for name, state := range map[string]State{
		"the event":     stateOf(watchtest.NewPod("web", "1").Pod, failed),
		"the condition": stateOf(pod, failed),
		"a workload's pod": deploymentState(replicaSet("b", "2"),
			watchtest.Owned("b", unscheduled(unbound, 5*time.Second)).Pod, ofReplica),
	} {
		for now, want := range map[time.Duration]bool{
			5 * time.Second: true, 7 * time.Second: true,
			8 * time.Second: false,
		} {
			got, _ := Analyze(state, cause.DefaultPolicy(), watchtest.After(now))
			if len(got.Warnings) != 1 || got.Warnings[0].Tentative != want || got.Cause == nil ||
				got.Cause.Tentative != want {
				t.Errorf("%s after %s: %+v, %+v; want them tentative: %t", name, now, got.Warnings, got.Cause, want)
			}
		}
	}
}

// The scheduler's reason is the stage's message, too, but not while it is tentative.
func TestTentativeMessage(t *testing.T) {
	if got, _ := Analyze(stateOf(watchtest.NewPod("web", "1", unscheduled("", 0)).Pod), cause.DefaultPolicy(),
		watchtest.Epoch); got.Message != "" || got.Cause != nil {
		t.Errorf("without a reason: %q, %+v", got.Message, got.Cause)
	}
	state := stateOf(watchtest.NewPod("web", "1", unscheduled("0/1 nodes are available: 1 Insufficient cpu.", 0)).Pod)
	for now, want := range map[time.Duration]string{
		2 * time.Second: "",
		3 * time.Second: "0/1 nodes: 1 Insufficient cpu",
	} {
		if got, _ := Analyze(state, cause.DefaultPolicy(), watchtest.After(now)); got.Message != want {
			t.Errorf("after %s: %q, want %q", now, got.Message, want)
		}
	}
}

// What is final is not tentative.
func TestFinalCauses(t *testing.T) {
	state := stateOf(watchtest.NewPod("web", "1", watchtest.OnNode,
		watchtest.App(watchtest.Waits("ErrImagePull", "x/app:1: not found"))).Pod)
	got, next := Analyze(state, cause.DefaultPolicy(), watchtest.Epoch)
	if got.Stage != v1.StageFailed || got.Cause.Tentative || !next.IsZero() {
		t.Errorf("%s, %+v, asks again at %s", got.Stage, got.Cause, next)
	}
}

func unscheduled(message string, at time.Duration) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		watchtest.Set(pod, corev1.PodScheduled, corev1.ConditionFalse, at)
		pod.Status.Conditions[0].Message = message
	}
}

func refusing(rs *appsv1.ReplicaSet, message string, at time.Duration) *appsv1.ReplicaSet {
	rs.Status.Conditions = []appsv1.ReplicaSetCondition{{
		Type: appsv1.ReplicaSetReplicaFailure, Status: corev1.ConditionTrue,
		Message: message, LastTransitionTime: metav1.NewTime(watchtest.After(at)),
	}}
	return rs
}

func deploymentState(objects ...runtime.Object) State {
	s := NewState(Subject{Kind: KindDeployment, Namespace: "dev", Name: "web"}).
		Apply(watch.Added, watchtest.Deployment(2, 2))
	for _, o := range objects {
		s = s.Apply(watch.Added, o)
	}
	return s
}
