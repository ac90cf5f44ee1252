package workload

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
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

// A workload that the API server has and nobody can read is an error of its author.
func TestTyped(t *testing.T) {
	web := userstring.Workload{Kind: "deployment", Name: "web"}
	for name, test := range map[string]struct {
		object map[string]any
		there  bool
		code   fault.Code
	}{
		"gone":       {nil, false, ""},
		"plain":      {map[string]any{"metadata": map[string]any{"name": "web"}}, true, ""},
		"unreadable": {map[string]any{"spec": "none"}, false, fault.Internal},
	} {
		object, err := (&Workload{Ref: web, Object: test.object}).Typed()
		if (object != nil) != test.there || fault.CodeOf(err) != test.code {
			t.Errorf("%s: %v, %v", name, object, err)
		}
	}
}

// The selector of a workload selects its pods, and is to be read, too.
func TestPodSelector(t *testing.T) {
	for name, test := range map[string]struct {
		selector any
		want     string
		fails    bool
	}{
		"plain":      {map[string]any{"matchLabels": map[string]any{"app": "web"}}, "app=web", false},
		"unreadable": {map[string]any{"matchLabels": "none"}, "", true},
		"invalid": {
			map[string]any{"matchExpressions": []any{map[string]any{"key": "app", "operator": "Like"}}},
			"",
			true,
		},
	} {
		selector, err := (&Workload{Object: map[string]any{"spec": map[string]any{"selector": test.selector}}}).
			PodSelector()
		if (err != nil) != test.fails || err == nil && selector.String() != test.want {
			t.Errorf("%s: %v, %v", name, selector, err)
		}
	}
}
