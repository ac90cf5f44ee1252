package standalone

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/provision/deploy"
)

// stages are those that a stream tells.
type stages []v1.Stage

// Handle notes a stage.
func (s *stages) Handle(e v1.Event) {
	if e.Stage != nil {
		*s = append(*s, e.Stage.Stage)
	}
}

// Of a pod that is being deleted is said that it goes, and not what becomes of it before.
func TestAwaitGone(t *testing.T) {
	target, client, d := on(t, workspacePod(false))
	var said stages
	stream := event.NewStream("alice", time.Now, &said)
	target.Steps = deploy.NewSteps(stream, time.Now)
	turn := turnOf(t, target, d)
	pods := client.CoreV1().Pods("dev")
	starting := workspacePod(false)
	starting.ResourceVersion, starting.Spec.NodeName = "2", "node1"
	going := starting.DeepCopy()
	going.ResourceVersion, going.DeletionTimestamp, going.Finalizers = "3", new(metav1.Now()),
		[]string{"example.com/slow"}
	for _, pod := range []*corev1.Pod{starting, going} {
		if _, err := pods.Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := pods.Delete(t.Context(), id, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	left, err := target.AwaitGone(ctx, deploy.Removal{Follower: turn.Follower})
	stream.Finish(v1.Result{})
	if err != nil || !left.Gone {
		t.Errorf("%+v, %v", left, err)
	}
	for _, stage := range slices.Compact(said) {
		if stage != v1.StageTerminating && stage != v1.StageUnknown {
			t.Errorf("it says %s", stage)
		}
	}
	if len(said) == 0 {
		t.Error("it says nothing")
	}
}

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
			"pod p is still there: phase Running, 12s of its grace period left",
			"keep waiting with `berth delete again`",
		},
		{
			"on a node that does not answer", corev1.PodRunning, -time.Minute, nil,
			"pod p is still there: phase Running, its grace period has expired", "kubectl describe pod p --namespace n",
		},
		{
			"held", corev1.PodFailed, -time.Second,
			[]string{"foo.example.com/bar"},
			"pod p is still there: phase Failed, its grace period has expired, held by finalizer foo.example.com/bar",
			"kubectl patch pod p --namespace n",
		},
	} {
		end := metav1.NewTime(now.Add(test.left))
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: "p", Namespace: "n", DeletionTimestamp: &end,
				Finalizers: test.finalizers,
			},
			Status: corev1.PodStatus{Phase: test.phase},
		}
		what, hint := stillThere(pod, now, "berth delete again")
		if what != test.what || !strings.Contains(hint, test.hint) {
			t.Errorf("%s: %q, %q", test.name, what, hint)
		}
	}
}
