package cause

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a volume claim has no volume. Only VolumeUnbound fails under
// both policies.
const (
	VolumeUnbound       = "VolumeUnbound"       // no PersistentVolume exists for the claim
	VolumePending       = "VolumePending"       // the claim is not provisioned yet
	ProvisionerSilent   = "ProvisionerSilent"   // its provisioner has not begun
	StorageClassMissing = "StorageClassMissing" // the claim's class does not exist
	ClaimMissing        = "ClaimMissing"        // the claim does not exist
	ClaimLost           = "ClaimLost"           // the claim's volume does not exist any more
	ClaimTerminating    = "ClaimTerminating"    // the claim is being deleted
)

const (
	failedBinding        = "FailedBinding"
	provisioningFailed   = "ProvisioningFailed"
	provisioning         = "Provisioning"
	provisioned          = "ProvisioningSucceeded"
	externalProvisioning = "ExternalProvisioning"
)

// unbound is a claim that no volume exists for. The event is believed only as
// long as the claim itself is not bound, and it is the latest word on it.
func unbound(c evidence.Claim) (Finding, bool) {
	if c.IsBound() {
		return Finding{}, false
	}
	e := evidence.Latest(c.Events, failedBinding, provisioningFailed, "WaitForFirstConsumer",
		externalProvisioning, provisioning, provisioned)
	if e == nil || e.Reason != failedBinding {
		return Finding{}, false
	}
	return Finding{Reason: e.Reason, At: evidence.LastSeen(e), Cause: ofClaim(c, VolumeUnbound, evidence.Text(e))}, true
}

// OfPendingClaim is the first claim of a pod that waits for something to be
// corrected; nil if none does. That it waits for its first consumer, the pod, is as
// it should be.
func OfPendingClaim(p evidence.Pod) *Finding {
	for _, c := range p.Claims {
		for _, detect := range []func(evidence.Claim) *Finding{lostClaim, deletedClaim, unprovisioned, unattended} {
			if f := detect(c); f != nil {
				return f
			}
		}
	}
	return nil
}

// lostClaim is a claim whose volume does not exist any more.
func lostClaim(c evidence.Claim) *Finding {
	if c.Status.Phase != corev1.ClaimLost {
		return nil
	}
	f := &Finding{Cause: ofClaim(c, ClaimLost, "its volume "+c.Spec.VolumeName+" does not exist any more")}
	if e := evidence.Latest(c.Events, "ClaimLost"); e != nil {
		f.Reason, f.Begun = e.Reason, evidence.FirstSeen(e)
	}
	return f
}

// deletedClaim is a claim that is being deleted: no pod gets it any more.
func deletedClaim(c evidence.Claim) *Finding {
	if c.DeletionTimestamp == nil {
		return nil
	}
	return &Finding{Begun: c.DeletionTimestamp.Time, Cause: ofClaim(c, ClaimTerminating, "is being deleted")}
}

// unprovisioned is a claim for which making a volume has failed.
func unprovisioned(c evidence.Claim) *Finding {
	e := evidence.Latest(c.Events, provisioningFailed, provisioned)
	if c.IsBound() || e == nil || e.Reason != provisioningFailed {
		return nil
	}
	code := VolumePending
	if strings.Contains(e.Message, storagev1.GroupName) && strings.Contains(e.Message, "not found") {
		code = StorageClassMissing
	}
	return &Finding{Reason: e.Reason, Begun: evidence.FirstSeen(e), Cause: ofClaim(c, code, evidence.Text(e))}
}

// unattended is a claim that waits for a provisioner, which has not begun for so long
// that it does not seem to run: one that does says so at once.
func unattended(c evidence.Claim) *Finding {
	e := evidence.Latest(c.Events, externalProvisioning)
	if c.IsBound() || e == nil || evidence.Latest(c.Events, provisioning, provisioned) != nil ||
		evidence.LastSeen(e).Sub(evidence.FirstSeen(e)) < SilentAfter {
		return nil
	}
	text := "its provisioner has not begun to make a volume"
	if m := provisioner.FindStringSubmatch(e.Message); m != nil {
		text = fmt.Sprintf("provisioner %s has not begun to make its volume", m[1])
	}
	return &Finding{Reason: e.Reason, Begun: evidence.FirstSeen(e), Cause: ofClaim(c, ProvisionerSilent, text)}
}

const provisioner pattern.Expr = `external provisioner '([^']+)'`

func ofClaim(c evidence.Claim, code, text string) v1.Cause {
	return v1.Cause{
		Code:    code,
		Message: fmt.Sprintf("volume claim %s: %s", c.Name, text),
		Object:  kube.Object("PersistentVolumeClaim", c.Name),
	}
}

const aboutClaim pattern.Expr = `(?:^|: )(?:waiting for ephemeral volume controller to create the )?persistentvolumeclaim "[^"]*"`

// claimCode is the cause that the scheduler's words on a claim are of; empty if it
// speaks of none.
func claimCode(message string) string {
	switch {
	case !aboutClaim.MatchString(message):
		return ""
	case strings.Contains(message, "waiting for ephemeral volume controller"):
		return VolumePending
	case strings.Contains(message, "bound to non-existent"):
		return ClaimLost
	case strings.Contains(message, "is being deleted"):
		return ClaimTerminating
	}
	return ClaimMissing
}

// provisioningText says what keeps a provisioner from making a volume, by what it has said.
func provisioningText(c v1.Cause, a About) string {
	described := "`kubectl describe pvc" + a.option() + "`"
	return advise(c.Message, []advice{
		{
			pattern.Expr(`(?i)ResourceExhausted|quota|not enough (?:free )?(?:space|capacity)|insufficient|no space left|out of (?:capacity|disks)`),
			"The storage has no room for such a volume, or a limit on them is reached. Let the claim ask for less, delete volumes that are not needed, or ask your cluster administrator.",
		},
		{
			pattern.Expr(`(?i)PermissionDenied|UnauthorizedOperation|Unauthenticated|AccessDenied|is forbidden|not authorized`),
			"The storage does not let its provisioner make volumes: its permissions or its credentials are for your cluster administrator to correct.",
		},
		{
			pattern.Expr(`(?i)access ?modes?.*(?:not|un)\s?-?supported|(?:not|un)\s?-?support.*access ?mode|InvalidArgument|invalid (?:parameter|option)|Only support`),
			"The storage class cannot make such a volume: compare the claim's access modes, size and class with what it offers (" + described + "), and create the claim again.",
		},
		{
			pattern.Expr(`(?i)topology|no available node|driver .*not (?:found|registered)`),
			"The storage's driver does not run on the nodes in question: `kubectl get csinodes` shows where it does.",
		},
		{
			pattern.Expr(`DeadlineExceeded|deadline exceeded|Unavailable|connection refused|timed out`),
			"The storage takes long, or does not answer its provisioner, which tries again. If this persists, ask your cluster administrator; " + described + " shows each attempt.",
		},
	}, "The volume is still being provisioned. If this persists, the storage class cannot do it: "+described+" says why.")
}

// class is where the storage class of a claim is named.
func class(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return `"storageClassName" of the storage's claimSpec in ` + a.spec()
	}
	return `"storageClassName" of a new claim (that of an existing one cannot be changed)`
}

// missingClass says which storage class does not exist, and where to name one that does.
func missingClass(c v1.Cause, a About) string {
	return missing(c, a) + " Name one that does (`kubectl get storageclass`) as " + class(c, a)
}
