package watch_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// A container that has not begun in a pod that is over, as those of a pod that its node refuses, never does.
func TestContainersThatDoNotStart(t *testing.T) {
	for name, test := range map[string]struct {
		changes []func(*corev1.Pod)
		want    string
	}{
		"refused by its node": {[]func(*corev1.Pod){func(pod *corev1.Pod) {
			pod.Status = corev1.PodStatus{
				Phase: corev1.PodFailed, Reason: "SysctlForbidden",
				Message: "Pod was rejected",
			}
		}}, v1.NotStarted},
		"behind an init container that failed": {[]func(*corev1.Pod){
			watchtest.OnNode, watchtest.App(watchtest.Waits("PodInitializing", "")),
			func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed },
		}, v1.NotStarted},
		"waits for others": {[]func(*corev1.Pod){
			watchtest.OnNode, watchtest.App(watchtest.Waits("PodInitializing", "")),
		}, "PodInitializing"},
	} {
		pod := watchtest.NewPod("web", "1", test.changes...)
		s := watch.NewState(watch.Subject{Namespace: pod.Namespace, Name: "web"}).Apply("ADDED", pod.Pod)
		got, _ := watch.Analyze(s, cause.DefaultPolicy(), watchtest.After(time.Minute))
		if c := got.Containers[len(got.Containers)-1]; c.State != v1.ContainerWaiting || c.Reason != test.want {
			t.Errorf("%s: %s %q, want %q", name, c.State, c.Reason, test.want)
		}
	}
}

// A pod is over once its phase is final: it does not start again. One that crashes does, and one
// that is being deleted is on its way.
func TestEnded(t *testing.T) {
	phase := func(phase corev1.PodPhase) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Status.Phase = phase }
	}
	for name, test := range map[string]struct {
		changes []func(*corev1.Pod)
		want    bool
	}{
		"evicted":    {[]func(*corev1.Pod){phase(corev1.PodFailed)}, true},
		"ended well": {[]func(*corev1.Pod){phase(corev1.PodSucceeded)}, true},
		"runs":       {[]func(*corev1.Pod){watchtest.OnNode, watchtest.AppReady}, false},
		"crashes": {[]func(*corev1.Pod){
			watchtest.OnNode,
			watchtest.App(watchtest.Exits(1, "Error", time.Second)),
		}, false},
		"evicted and being deleted": {[]func(*corev1.Pod){
			phase(corev1.PodFailed),
			func(pod *corev1.Pod) { pod.DeletionTimestamp = &metav1.Time{Time: watchtest.Epoch} },
		}, false},
	} {
		pod := watchtest.NewPod("web", "1", test.changes...)
		s := watch.NewState(watch.Subject{Namespace: pod.Namespace, Name: "web"}).Apply("ADDED", pod.Pod)
		if got, _ := watch.Analyze(s, cause.DefaultPolicy(), watchtest.After(time.Minute)); got.Ended != test.want {
			t.Errorf("%s: %t", name, got.Ended)
		}
	}
}
