package workload

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/kube"
)

func replica(name, job string, age time.Duration, ready, going bool) *corev1.Pod {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: "shop", CreationTimestamp: metav1.NewTime(now.Add(-age)),
		Labels: map[string]string{
			kube.LabelCanonicalID: "alice-1", kube.LabelInjected: "true", kube.LabelJobID: job,
			kube.LabelWorkloadKind: "deployment", kube.LabelWorkloadName: "web",
		},
	}}
	if ready {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}
	}
	if going {
		pod.DeletionTimestamp = &metav1.Time{Time: now}
	}
	return pod
}

// The pod to enter is one that is ready, the newest of those.
func TestPreferred(t *testing.T) {
	pods := preferred([]*corev1.Pod{
		replica("waits", "j", 0, false, false), replica("old", "j", time.Hour, true, false),
		replica("new", "j", time.Minute, true, false), replica("going", "j", 0, true, true),
	})
	var names []string
	for _, pod := range pods {
		names = append(names, pod.Name)
	}
	if strings.Join(names, " ") != "new old waits" {
		t.Errorf("%s", names)
	}
}
