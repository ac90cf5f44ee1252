package watch

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

// What blocks the deletion of a pod is reported, but not at once: a finalizer that is
// about to be removed is not worth a message.
func TestTerminatingNamesFinalizers(t *testing.T) {
	asked := time.Date(2026, 11, 20, 23, 50, 0, 0, time.UTC)
	for _, test := range []struct {
		name       string
		finalizers []string
		after      time.Duration
		message    string
		next       time.Duration
	}{
		{"nothing holds it", nil, time.Minute, "grace period 30 s", 0},
		{"just asked", []string{"foo.example.com/bar"}, time.Second, "grace period 30 s", 3 * time.Second},
		{
			"a few seconds later",
			[]string{"foo.example.com/bar"},
			3 * time.Second,
			"grace period 30 s; held by finalizer foo.example.com/bar", 90 * time.Second,
		},
		{
			"two of them",
			[]string{"a.example.com/x", "b.example.com/y"},
			time.Hour,
			"grace period 30 s; held by finalizers a.example.com/x, b.example.com/y", 0,
		},
	} {
		grace, end := int64(30), metav1.NewTime(asked.Add(30*time.Second))
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: "p", Namespace: "n", UID: "u", DeletionTimestamp: &end, DeletionGracePeriodSeconds: &grace,
			Finalizers: test.finalizers,
		}}
		state := NewState(Subject{Namespace: "n", Name: "p"}).Apply(apiwatch.Added, pod)
		got, next := Analyze(state, cause.DefaultPolicy(), asked.Add(test.after))
		var want time.Time
		if test.next > 0 {
			want = asked.Add(test.next)
		}
		if got.Stage != v1.StageTerminating || got.Message != test.message || !next.Equal(want) {
			t.Errorf("%s: %s %q, asks again at %s; want %q, %s", test.name, got.Stage, got.Message, next, test.message,
				want)
		}
	}
}

// A pod that carries the request to stop is Stopping until it has stopped, whatever its stage
// is. The request may be an annotation or a label.
func TestStopIsRequested(t *testing.T) {
	request := func(value string) map[string]string { return map[string]string{"k8shell.io/stop-requested": value} }
	annotated := func(pod *corev1.Pod) { pod.Annotations = request("true") }
	for name, c := range map[string]struct {
		changes []func(*corev1.Pod)
		want    v1.Status
	}{
		"nobody asked":  {[]func(*corev1.Pod){watchtest.AppReady}, v1.StatusRunning},
		"an annotation": {[]func(*corev1.Pod){watchtest.AppReady, annotated}, v1.StatusStopping},
		"a label": {
			[]func(*corev1.Pod){watchtest.AppReady, func(pod *corev1.Pod) { pod.Labels = request("true") }},
			v1.StatusStopping,
		},
		"another value": {[]func(*corev1.Pod){
			watchtest.AppReady,
			func(pod *corev1.Pod) { pod.Annotations = request("false") },
		}, v1.StatusRunning},
		"while it ends": {[]func(*corev1.Pod){watchtest.AppReady, watchtest.Deleting, annotated}, v1.StatusStopping},
		"it has stopped": {[]func(*corev1.Pod){
			watchtest.App(watchtest.Exits(0, "Completed", time.Second)),
			func(pod *corev1.Pod) { pod.Status.Phase = corev1.PodSucceeded }, annotated,
		}, v1.StageStopped.Status()},
	} {
		pod := watchtest.NewPod("p", "u", append([]func(*corev1.Pod){watchtest.OnNode}, c.changes...)...).Pod
		got, _ := Analyze(NewState(Subject{Namespace: pod.Namespace, Name: "p"}).Apply(apiwatch.Added, pod),
			cause.DefaultPolicy(), watchtest.After(time.Minute))
		if got.Status != c.want {
			t.Errorf("%s: %s, want %s", name, got.Status, c.want)
		}
	}
}
