package detect

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
		t.Run(name, func(t *testing.T) { compare(t, Silent(podOf(test.pod)), test.want) })
	}
}
