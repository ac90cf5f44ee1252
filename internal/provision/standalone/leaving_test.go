package standalone

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a time-out says of a pod that is not gone.
func TestStillThere(t *testing.T) {
	now := time.Date(2026, 11, 20, 23, 50, 0, 0, time.UTC)
	for _, test := range []struct {
		name       string
		phase      corev1.PodPhase
		left       time.Duration
		finalizers []string
		what, hint string
	}{
		{
			"within its grace period", corev1.PodRunning, 12 * time.Second, nil,
			"pod p is still there: phase Running, 12s of its grace period left", "keep waiting with `berth delete again`",
		},
		{
			"on a node that does not answer", corev1.PodRunning, -time.Minute, nil,
			"pod p is still there: phase Running, its grace period has expired", "kubectl describe pod p --namespace n",
		},
		{
			"held", corev1.PodFailed, -time.Second,
			[]string{"foo.example.com/bar"},
			"pod p is still there: phase Failed, its grace period has expired, held by finalizer foo.example.com/bar", "kubectl patch pod p --namespace n",
		},
	} {
		end := metav1.NewTime(now.Add(test.left))
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "n", DeletionTimestamp: &end, Finalizers: test.finalizers},
			Status:     corev1.PodStatus{Phase: test.phase},
		}
		what, hint := stillThere(pod, now, "berth delete again")
		if what != test.what || !strings.Contains(hint, test.hint) {
			t.Errorf("%s: %q, %q", test.name, what, hint)
		}
	}
}
