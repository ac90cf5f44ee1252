package watch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func patient() cause.Policy {
	p := cause.DefaultPolicy()
	p.Name, p.GracePeriod = cause.Patient, time.Minute
	return p
}

func pullError(cause string) string {
	return fmt.Sprintf("Failed to pull image %q: rpc error: code = Unknown desc = %s", "x/app:1", cause)
}

// What the patient policy makes of time: the grace period is a minute.
func TestPatience(t *testing.T) {
	refuses := warning("app", "Failed", pullError("dial tcp 10.0.0.9:443: connect: connection refused"))
	grows := about("", "TriggeredScaleUp", "pod triggered scale-up: [{pool 1->2 (max: 9)}]")
	noCPU := warning("", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.")
	inUse := warning("", "FailedAttachVolume", `Multi-Attach error for volume "pvc-1"`)
	other := func(pod *corev1.Pod) {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "other", Image: "x/other:1"})
	}
	for name, test := range map[string]struct {
		said    []spoken
		stages  []v1.Stage
		cause   string
		warning string
	}{
		"a registry that refuses for less than the grace period": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(5, refuses), quiet(64),
				at(64, about("app", "Pulled", "Successfully pulled")),
				at(66, webPod(watchtest.OnNode, watchtest.AppReady)),
			},
			stages: []v1.Stage{starting, running}, warning: "connection refused",
		},
		"a registry that refuses for longer": {
			said:   []spoken{at(0, webPod(watchtest.OnNode)), at(5, refuses), quiet(66)},
			stages: []v1.Stage{starting, failed}, cause: "RegistryUnreachable: connection refused (did " +
				"not pass within 1m)",
			warning: "connection refused",
		},
		"a registry of which only the status tells": {
			said: []spoken{at(0, webPod(watchtest.OnNode,
				watchtest.App(watchtest.Waits("ErrImagePull", "503 Service Unavailable")))), quiet(59)},
			stages: []v1.Stage{starting}, cause: "RegistryUnreachable: (may pass: waiting up to 1m)",
			warning: "ErrImagePull: container app: image x/app:1 cannot be pulled: 503",
		},
		"and for longer": {
			said: []spoken{at(0, webPod(watchtest.OnNode,
				watchtest.App(watchtest.Waits("ErrImagePull", "503 Service Unavailable")))), quiet(61)},
			stages: []v1.Stage{starting, failed}, cause: "RegistryUnreachable",
		},
		"the kubelet only says that it backs off": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(5, refuses),
				at(20, webPod(watchtest.OnNode,
					watchtest.App(watchtest.Waits("ImagePullBackOff", `Back-off pulling image "x/app:1"`)))),
			},
			stages: []v1.Stage{starting}, cause: "RegistryUnreachable: connection refused",
		},
		"another image that arrives is progress": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode, other)), at(5, refuses),
				at(50, about("other", "Pulled", "Successfully pulled")),
				quiet(109),
			},
			stages: []v1.Stage{starting}, cause: "RegistryUnreachable",
		},
		"and the last one": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode, other)), at(5, refuses),
				at(50, about("other", "Pulled", "Successfully pulled")),
				quiet(111),
			},
			stages: []v1.Stage{starting, failed}, cause: "RegistryUnreachable",
		},
		"an answer that is final ends the grace": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(5, refuses),
				at(15, warning("app", "Failed", pullError("x/app:1: not found"))),
			},
			stages: []v1.Stage{starting, failed}, cause: "ImageNotFound",
		},
		"the grace of a pull after one that went well": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(2, refuses), at(30, about("app", "Pulled", "Successfully pulled")),
				at(31, webPod(watchtest.OnNode, watchtest.App(watchtest.Runs(30*time.Second)))),
				at(90, webPod(watchtest.OnNode,
					watchtest.App(watchtest.Waits("ErrImagePull", "connection refused"),
						endedAt(89*time.Second)))), at(90, refuses), quiet(140),
			},
			stages: []v1.Stage{starting}, cause: "RegistryUnreachable",
		},
		"no node, and the cluster does not grow": {
			said:   []spoken{at(0, webPod()), at(1, noCPU), quiet(3600)},
			stages: []v1.Stage{scheduling}, cause: "Unschedulable: 3 Insufficient cpu",
		},
		"the cluster grows": {
			said:   []spoken{at(0, webPod()), at(1, noCPU), at(10, grows), quiet(69)},
			stages: []v1.Stage{scheduling}, cause: "Unschedulable: a node is being added", warning: "FailedScheduling",
		},
		"the cluster says that it grows, and does not": {
			said:   []spoken{at(0, webPod()), at(1, noCPU), at(10, grows), quiet(71)},
			stages: []v1.Stage{scheduling, failed}, cause: "Unschedulable: did not pass within 1m",
		},
		"it tries again": {
			said: []spoken{
				at(0, webPod()), at(1, noCPU), at(10, grows),
				at(65, about("", "TriggeredScaleUp", "pod triggered scale-up: [{other 0->1}]")), quiet(120),
			},
			stages: []v1.Stage{scheduling}, cause: "Unschedulable: other 0->1",
		},
		"a volume that another node gives back": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(1, inUse), quiet(50),
				at(55, about("", "SuccessfulAttachVolume", "AttachVolume.Attach succeeded")), quiet(100),
			},
			stages: []v1.Stage{starting}, warning: "Multi-Attach",
		},
		"a volume that another node keeps": {
			said:   []spoken{at(0, webPod(watchtest.OnNode)), at(1, inUse), quiet(62)},
			stages: []v1.Stage{starting, failed}, cause: "VolumeNotMounted: Multi-Attach", warning: "Multi-Attach",
		},
		"a pull that ran into its time-out, of which the status tells first": {
			said: []spoken{
				at(0, webPod(watchtest.OnNode)), at(1, about("app", "Pulling", `Pulling image "x/app:1"`)),
				at(600, webPod(watchtest.OnNode, watchtest.App(watchtest.Waits("ErrImagePull", "i/o timeout")))),
			},
			stages: []v1.Stage{starting, pulling, starting}, cause: "RegistryUnreachable",
		},
	} {
		t.Run(name, func(t *testing.T) {
			stages, last, warnings := replay(web, patient(), test.said)
			if !slices.Equal(stages, test.stages) {
				t.Errorf("stages %v, want %v", stages, test.stages)
			}
			checkRealCause(t, last.Cause, test.cause)
			if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, test.warning) }) &&
				test.warning != "" {
				t.Errorf("no warning says %q: %q", test.warning, warnings)
			}
		})
	}
}

func endedAt(d time.Duration) func(*corev1.ContainerStatus) {
	return func(s *corev1.ContainerStatus) {
		s.RestartCount = 1
		s.LastTerminationState.Terminated = watchtest.Termination(1, "Error", d)
	}
}
