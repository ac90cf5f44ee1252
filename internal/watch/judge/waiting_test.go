package judge

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// The sandbox counts only until the pod has one.
func TestNoSandbox(t *testing.T) {
	e := warning("", "FailedCreatePodSandBox", "plugin type=cni failed")
	compare(t, Unready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode), e)),
		"SandboxFailed: plugin type=cni failed")
	up := func(pod *corev1.Pod) { watchtest.Set(pod, corev1.PodReadyToStartContainers, corev1.ConditionTrue, 0) }
	compare(t, Unready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, up), e)), "")
}

// What a node does before the containers start is told by its last event about it.
func TestPreparing(t *testing.T) {
	owner := warning("", "VolumePermissionChangeInProgress",
		"Setting volume ownership for data, processed 312044 files.")
	late := warning("", "FailedMount", "Unable to attach or mount volumes: unmounted volumes=[data]: context "+
		"deadline exceeded")
	for want, events := range map[string][]*corev1.Event{
		"VolumeOwnership: processed 312044 files": {owner, late},
		"SandboxFailed: no address":               {owner, warning("", "FailedCreatePodSandBox", "no address is free")},
		"ResourceNotReady: DRA driver x is not": {
			warning("", "FailedPrepareDynamicResources", "Failed to prepare dynamic resources: DRA driver x "+
				"is not registered"),
		},
		"VolumeNotMounted: the node waits for volume data: Unable": {late},
	} {
		compare(t, Unready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode), events...)), want)
	}
}

// A probe that fails is one of the instance that runs.
func TestProbeFails(t *testing.T) {
	runs := watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(10*time.Second)))
	failed := watchtest.Event("web", "1", "app", "Unhealthy", "Readiness probe failed: 503").Warn()
	for name, test := range map[string]struct {
		event *corev1.Event
		want  string
	}{
		"of this instance": {
			failed.At(watchtest.After(11 * time.Second)).Event,
			"ProbeFailed: Readiness probe failed: 503",
		},
		"of the one before": {failed.At(watchtest.After(9 * time.Second)).Event, ""},
		"while it was just ended": {
			watchtest.Event("web", "1", "app", "Unhealthy",
				"Readiness probe errored and resulted in unknown state: x").At(watchtest.After(11 * time.Second)).Event,
			"",
		},
	} {
		t.Run(name, func(t *testing.T) { compare(t, Unready(podOf(runs, test.event)), test.want) })
	}
	restarted := func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].RestartCount = 3 }
	again := podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(10*time.Second)),
		restarted), failed.At(watchtest.After(11*time.Second)).Event)
	if f := Unready(again); f == nil || f.Restarts == nil || *f.Restarts != 3 {
		t.Errorf("restarted three times: %+v", f)
	}
}

func TestReadinessGate(t *testing.T) {
	gated := func(pod *corev1.Pod) {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
	}
	compare(t, Unready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady, gated))),
		"ReadinessGate: example.com/lb")
	compare(t, Unready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(time.Second)),
		gated))), "")
}

// It is worth a word after 5 minutes, and says so again at longer and longer intervals.
func TestLasting(t *testing.T) {
	for after, want := range map[time.Duration]struct {
		text string
		next time.Duration // 0 for never
	}{
		5*time.Minute - 1: {"", 5 * time.Minute},
		5 * time.Minute:   {"for more than 5 minutes", 15 * time.Minute},
		time.Hour:         {"for more than an hour", 6 * time.Hour},
		30 * time.Hour:    {"for more than a day", 0},
	} {
		text, next := Lasting(cause.Finding{Begun: watchtest.Epoch}, watchtest.After(after))
		wantNext := time.Time{}
		if want.next != 0 {
			wantNext = watchtest.After(want.next)
		}
		if text != want.text || !next.Equal(wantNext) {
			t.Errorf("after %s: %q, again at %s", after, text, next)
		}
	}
}
