package provision

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
)

// A waiting workspace can be removed without the permission to see its claims.
func TestRemovalWithoutALookAtClaims(t *testing.T) {
	pod := workspacePod()
	pod.Spec.Volumes = []corev1.Volume{{Name: "home", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "home"},
	}}}
	s, client, in := runOn(t, pod)
	client.PrependReactor("get", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), "home", errors.New(`User "alice" cannot get resource "persistentvolumeclaims"`))
	})
	var may []rbac.Access
	for _, a := range rbac.Named(rbac.Delete).All() {
		if a.String() != "get persistentvolumeclaims" {
			may = append(may, a)
		}
	}
	limit(client, may...)
	if err := s.Records().Create(t.Context(), release.NewRecord(id, "dev", in.deployment.Chart, time.Now())); err != nil {
		t.Fatal(err)
	}
	arg, err := inventory.ParseArgument("id/" + id)
	if err != nil {
		t.Fatal(err)
	}
	target, err := s.Find(t.Context(), arg)
	if err != nil || target.Found.Pod == nil || target.Found.Record == nil {
		t.Fatalf("found is %+v, %v", target, err)
	}
	deletion, err := s.Delete(t.Context(), target, true, event.NewStream(id, time.Now))
	if err != nil || deletion.Gone {
		t.Errorf("%+v, %v", deletion, err)
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
			"pod p is still there: phase Running, 12s of its grace period left", "keep waiting with `berth delete id/p`",
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
		what, hint := stillThere(pod, now)
		if what != test.what || !strings.Contains(hint, test.hint) {
			t.Errorf("%s: %q, %q", test.name, what, hint)
		}
	}
}
