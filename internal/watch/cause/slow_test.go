package cause

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/watchtest"
)

func TestOfSilent(t *testing.T) {
	probed := func(pod *corev1.Pod) { pod.Spec.Containers[0].ReadinessProbe = &corev1.Probe{} }
	for name, test := range map[string]struct {
		pod  watchtest.MadePod
		want string
	}{
		"an init container":         {watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.InitContainer("setup", nil, watchtest.Runs(time.Second))), "SlowInit: container setup"},
		"one that has completed":    {watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.InitContainer("setup", nil, watchtest.Exits(0, "Completed", time.Second))), ""},
		"a container":               {watchtest.NewPod("web", "1", watchtest.OnNode, probed, watchtest.App(watchtest.Runs(time.Second))), "SlowStart: container app: is not ready and has been running"},
		"a container without probe": {watchtest.NewPod("web", "1", watchtest.OnNode, watchtest.App(watchtest.Runs(time.Second))), "SlowStart: though it has no probe"},
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
