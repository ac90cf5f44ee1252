package watch

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// claim is a PersistentVolumeClaim that the pod mounts, with its events.
type claim struct {
	pvc    *corev1.PersistentVolumeClaim
	events []*corev1.Event
}

// claimsOf gives the claims that the pod mounts, as far as they are known. A
// claim is what it says now; its events may be of before.
func claimsOf(s State, pod *corev1.Pod) []claim {
	var claims []claim
	names := claimNames(pod)
	for _, pvc := range all[*corev1.PersistentVolumeClaim](s.objects) {
		if names[pvc.Name] && pvc.Namespace == pod.Namespace {
			claims = append(claims, claim{pvc: pvc, events: s.eventsAbout(pvc.UID)})
		}
	}
	return claims
}

func claimNames(pod *corev1.Pod) map[string]bool {
	names := map[string]bool{}
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			names[v.PersistentVolumeClaim.ClaimName] = true
		case v.Ephemeral != nil:
			names[pod.Name+"-"+v.Name] = true
		}
	}
	return names
}

func (c claim) bound() bool { return c.pvc.Status.Phase == corev1.ClaimBound }

// failure is a claim that no volume exists for. The event is believed only as
// long as the claim itself is not bound, and as it is the latest word on it.
func (c claim) failure() (finding, bool) {
	if c.bound() {
		return finding{}, false
	}
	e := latest(c.events, "FailedBinding", "ProvisioningFailed", "WaitForFirstConsumer",
		"ExternalProvisioning", "Provisioning", "ProvisioningSucceeded")
	if e == nil || e.Reason != "FailedBinding" {
		return finding{}, false
	}
	return finding{reason: e.Reason, at: lastSeen(e), cause: c.cause(CauseVolumeUnbound, e)}, true
}

// waitsFor is why a claim is still pending, if that is known. That it waits for
// its first consumer, the pod, is as it should be.
func (c claim) waitsFor() *finding {
	if c.bound() {
		return nil
	}
	e := latest(c.events, "ProvisioningFailed", "ProvisioningSucceeded")
	if e == nil || e.Reason != "ProvisioningFailed" {
		return nil
	}
	code := CauseVolumePending
	if strings.Contains(e.Message, storagev1.GroupName) && strings.Contains(e.Message, "not found") {
		code = CauseStorageClassMissing
	}
	return &finding{reason: e.Reason, begun: firstSeen(e), cause: c.cause(code, e)}
}

func (c claim) cause(code string, e *corev1.Event) v1.Cause {
	return v1.Cause{
		Code:    code,
		Message: fmt.Sprintf("volume claim %s: %s", c.pvc.Name, textOf(e)),
		Object:  reference(e.InvolvedObject.Kind, c.pvc.Name),
	}
}
