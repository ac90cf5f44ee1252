package diagnose_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/diagnose"
	"github.com/berthdev/berth/internal/diagnose/dump"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/watch/cause"
)

// The pod of a workspace that is over is brought back by berth start; one that goes on is not
// started, and no other pod is.
func TestStartable(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		want   bool
	}{
		"evicted":           {func(*corev1.Pod) {}, true},
		"it goes on":        {func(pod *corev1.Pod) { pod.Status = corev1.PodStatus{Phase: corev1.PodPending} }, false},
		"not a workspace's": {func(pod *corev1.Pod) { pod.Labels = nil }, false},
		"it has another's":  {func(pod *corev1.Pod) { pod.Labels[kube.LabelCanonicalID] = "bob-1" }, false},
		"it is a workload's": {func(pod *corev1.Pod) {
			pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Controller: new(true)}}
		}, false},
	} {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: "alice-1", Namespace: "team", UID: "1",
				Labels: map[string]string{kube.LabelCanonicalID: "alice-1"},
			},
			Status: corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted"},
		}
		test.change(pod)
		read := diagnose.Dump{Contents: dump.Contents{Records: []watch.Record{{Type: apiwatch.Added, Object: pod}}}}
		subject := watch.Subject{Kind: watch.KindPod, Namespace: "team", Name: "alice-1"}
		if d := read.Diagnose(subject, cause.Policy{}, time.Now()); d.Startable != test.want {
			t.Errorf("%s: %t, want %t: %+v", name, d.Startable, test.want, d)
		}
	}
}
