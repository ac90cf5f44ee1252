package cause

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

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
		"while it was just ended": {watchtest.Event("web", "1", "app", "Unhealthy",
			"Readiness probe errored and resulted in unknown state: x").At(watchtest.After(11 * time.Second)).Event, ""},
	} {
		t.Run(name, func(t *testing.T) { compare(t, OfUnready(podOf(runs, test.event)), test.want) })
	}
	restarted := func(pod *corev1.Pod) { pod.Status.ContainerStatuses[0].RestartCount = 3 }
	again := podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(10*time.Second)),
		restarted), failed.At(watchtest.After(11*time.Second)).Event)
	if f := OfUnready(again); f == nil || f.Restarts == nil || *f.Restarts != 3 {
		t.Errorf("restarted three times: %+v", f)
	}
}

func TestReadinessGate(t *testing.T) {
	gated := func(pod *corev1.Pod) {
		pod.Spec.ReadinessGates = []corev1.PodReadinessGate{{ConditionType: "example.com/lb"}}
	}
	compare(t, OfUnready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady, gated))),
		"ReadinessGate: example.com/lb")
	compare(t, OfUnready(podOf(watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(time.Second)),
		gated))), "")
}

func TestReadinessHints(t *testing.T) {
	checkHints(t, []hintTest{
		{
			"a probe",
			v1.Cause{Code: ProbeFailed, Container: "app"},
			About{Probe: "GET /healthz on port 8080"},
			[]string{"asks for GET /healthz on port 8080"},
		},
		{"an unknown probe", v1.Cause{Code: ProbeFailed, Container: "app"}, About{}, []string{"gets no good answer"}},
	})
}

func TestOfSilent(t *testing.T) {
	probed := func(pod *corev1.Pod) { pod.Spec.Containers[0].ReadinessProbe = &corev1.Probe{} }
	for name, test := range map[string]struct {
		pod  watchtest.MadePod
		want string
	}{
		"an init container": {watchtest.NewPod("web", "1", watchtest.OnNode,
			watchtest.InitContainer("setup", nil, watchtest.Runs(time.Second))), "SlowInit: container setup"},
		"one that has completed": {watchtest.NewPod("web", "1", watchtest.OnNode,
			watchtest.InitContainer("setup", nil, watchtest.Exits(0, "Completed", time.Second))), ""},
		"a container": {watchtest.NewPod("web", "1", watchtest.OnNode, probed,
			watchtest.App(watchtest.Runs(time.Second))), "SlowStart: container app: is not ready and has been running"},
		"a container without probe": {watchtest.NewPod("web", "1", watchtest.OnNode,
			watchtest.App(watchtest.Runs(time.Second))), "SlowStart: though it has no probe"},
		"a container that is ready": {watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.AppReady), ""},
	} {
		t.Run(name, func(t *testing.T) { compare(t, OfSilent(podOf(test.pod)), test.want) })
	}
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
		text, next := Lasting(Finding{Begun: watchtest.Epoch}, watchtest.After(after))
		wantNext := time.Time{}
		if want.next != 0 {
			wantNext = watchtest.After(want.next)
		}
		if text != want.text || !next.Equal(wantNext) {
			t.Errorf("after %s: %q, again at %s", after, text, next)
		}
	}
}
