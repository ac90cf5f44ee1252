package cause

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a volume is not there. Only VolumeUnbound fails under both
// policies; a volume that another node still has is waited for, under Patient for
// the grace period.
const (
	VolumeUnbound       = "VolumeUnbound"       // no PersistentVolume exists for the claim
	VolumePending       = "VolumePending"       // the claim is not provisioned yet
	StorageClassMissing = "StorageClassMissing" // the claim's class does not exist
	ClaimMissing        = "ClaimMissing"        // the claim does not exist
	VolumeMissingObject = "VolumeMissingObject" // the ConfigMap or Secret to mount does not exist
	VolumeNotMounted    = "VolumeNotMounted"    // attach or mount fails otherwise
)

const (
	failedBinding      = "FailedBinding"
	provisioningFailed = "ProvisioningFailed"
	failedMount        = "FailedMount"
	failedAttach       = "FailedAttachVolume"
)

func volume() []entry {
	return []entry{
		{
			code: VolumeUnbound, reasons: []string{failedBinding}, why: class,
			hint: "No volume fits the claim, and no storage class makes one. Name one that exists (`kubectl get storageclass`) as {why}. {again}",
		},
		{
			code: VolumePending, reasons: []string{provisioningFailed},
			hint: "The volume is still being provisioned. If this persists, the storage class cannot do it: `kubectl describe pvc{ns}` says why.",
		},
		{
			code: StorageClassMissing, reasons: []string{provisioningFailed}, person: true,
			why: func(c v1.Cause, a About) string {
				return missing(c, a) + " Name one that does (`kubectl get storageclass`) as " + class(c, a)
			},
			hint: "{why}. {again}",
		},
		{
			code: ClaimMissing, person: true,
			hint: "The volume claim to mount does not exist: `kubectl get pvc{ns}` lists those that do. Create it, or name another one in {spec}.",
		},
		{
			code: VolumeMissingObject, reasons: []string{failedMount}, person: true, why: missing,
			hint: "{why} Or leave the volume out in {spec}. Kubernetes keeps trying.",
		},
		{
			code: VolumeNotMounted, reasons: []string{failedAttach, failedMount},
			hint: "The node cannot attach or mount the volume. If another node still uses it, that takes up to 6 minutes; otherwise `kubectl get volumeattachments` and the storage's driver tell more.",
		},
	}
}

// unbound is a claim that no volume exists for. The event is believed only as
// long as the claim itself is not bound, and it is the latest word on it.
func unbound(c evidence.Claim) (Finding, bool) {
	if c.IsBound() {
		return Finding{}, false
	}
	e := evidence.Latest(c.Events, failedBinding, provisioningFailed, "WaitForFirstConsumer",
		"ExternalProvisioning", "Provisioning", "ProvisioningSucceeded")
	if e == nil || e.Reason != failedBinding {
		return Finding{}, false
	}
	return Finding{Reason: e.Reason, At: evidence.LastSeen(e), Cause: ofClaim(c, VolumeUnbound, e)}, true
}

// OfPendingClaim is the first claim of a pod that waits for something to be
// corrected; nil if none does. That it waits for its first consumer, the pod, is as
// it should be.
func OfPendingClaim(p evidence.Pod) *Finding {
	for _, c := range p.Claims {
		e := evidence.Latest(c.Events, provisioningFailed, "ProvisioningSucceeded")
		if c.IsBound() || e == nil || e.Reason != provisioningFailed {
			continue
		}
		code := VolumePending
		if strings.Contains(e.Message, storagev1.GroupName) && strings.Contains(e.Message, "not found") {
			code = StorageClassMissing
		}
		return &Finding{Reason: e.Reason, Begun: evidence.FirstSeen(e), Cause: ofClaim(c, code, e)}
	}
	return nil
}

func ofClaim(c evidence.Claim, code string, e *corev1.Event) v1.Cause {
	return v1.Cause{
		Code:    code,
		Message: fmt.Sprintf("volume claim %s: %s", c.Name, evidence.Text(e)),
		Object:  kube.Object(e.InvolvedObject.Kind, c.Name),
	}
}

// notMounted reads the latest event about mounting. Once or twice is usual, and
// "not registered" is the kubelet's cache warming up.
func notMounted(p evidence.Pod) *Finding {
	if e := multiAttach(p); e != nil {
		return ofEvent(p, VolumeNotMounted, e) // the kubelet's time-outs after it say less
	}
	e := evidence.Latest(p.Events, failedMount, failedAttach)
	if e != nil && passing(e.Message) {
		e = missingObject(p) // what it waits for until the time is up was said before
	}
	switch {
	case e == nil, strings.Contains(e.Message, "not registered"):
		return nil
	case noObject.MatchString(e.Message):
		f := ofEvent(p, VolumeMissingObject, e)
		f.Passes = strings.Contains(e.Message, secretText(p.Labels[kube.LabelCanonicalID])) // cert-manager makes it
		return f
	case evidence.Count(e) > 2:
		return ofEvent(p, VolumeNotMounted, e)
	}
	return nil
}

// secretText is how the kubelet calls the Secret with the certificate of a workspace.
func secretText(id string) string { return fmt.Sprintf("secret %q", kube.CertificateSecret(id)) }

// missingObject is the latest event that says what is missing; nil if none does.
func missingObject(p evidence.Pod) *corev1.Event {
	for _, e := range slices.Backward(p.Events) {
		if e.Reason == failedMount && noObject.MatchString(e.Message) {
			return e
		}
	}
	return nil
}

// multiAttach is the event that a volume is still attached to another node,
// until it is attached to this one or the pod has all it needs.
func multiAttach(p evidence.Pod) *corev1.Event {
	e := evidence.Latest(p.Events, failedAttach, "SuccessfulAttachVolume")
	if p.Sandboxed() || e == nil || !strings.Contains(e.Message, "Multi-Attach") {
		return nil
	}
	return e
}

// attachedElsewhere is a volume that has to leave another node first.
func attachedElsewhere(p evidence.Pod) []Finding {
	e := multiAttach(p)
	if e == nil {
		return nil
	}
	f := ofEvent(p, VolumeNotMounted, e)
	f.Passes = true
	return []Finding{*f}
}

// class is where the storage class of a claim is named.
func class(_ v1.Cause, a About) string {
	if a.Blueprint != "" {
		return `"storageClassName" of the storage's claimSpec in ` + a.spec()
	}
	return `"storageClassName" of a new claim (that of an existing one cannot be changed)`
}
