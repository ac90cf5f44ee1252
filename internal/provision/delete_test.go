package provision

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/rbac"
	"github.com/berthdev/berth/internal/release"
)

// A waiting workspace can be removed without permission to read its claims.
func TestRemovalWithoutALookAtClaims(t *testing.T) {
	pod := workspacePod()
	pod.Spec.Volumes = []corev1.Volume{{Name: "home", VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "home"},
	}}}
	s, client, dec := runOn(t, pod)
	client.PrependReactor("get", "persistentvolumeclaims", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), "home",
			errors.New(`User "alice" cannot get resource "persistentvolumeclaims"`))
	})
	var may []rbac.Access
	for _, a := range rbac.Named(rbac.Delete).All() {
		if a.String() != "get persistentvolumeclaims" {
			may = append(may, a)
		}
	}
	mayOnly(client, may...)
	if err := s.Records().Create(t.Context(),
		release.NewRecord(id, "dev", dec.deployment.Chart, time.Now())); err != nil {
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
	deletion, err := s.Delete(t.Context(), target, deploy.Removing{}, event.NewStream(id, time.Now))
	if err != nil || deletion.Gone {
		t.Errorf("%+v, %v", deletion, err)
	}
}

// A command that times out while it waits for the lock says who holds it.
func TestWaitingForALockEnds(t *testing.T) {
	s, client, _ := runOn(t)
	theirs := lockedByBobFor(t, s, deploy.ForProvisioning)
	defer theirs.Release(context.Background())
	s.WaitForLock = true
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	looks := 0
	client.PrependReactor("get", "leases", func(clienttesting.Action) (bool, runtime.Object, error) {
		looks++
		if looks == 2 { // it waits now
			cancel()
		}
		return false, nil, nil
	})
	held, err := s.lockFor(ctx, deploy.ForDeleting)
	if held != nil || fault.CodeOf(err) != fault.Conflict ||
		!strings.HasPrefix(err.Error(), "bob on elsewhere (process 1) is still working on workspace "+id) {
		t.Errorf("%v, %v", held, err)
	}
}
