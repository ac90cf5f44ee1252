package detect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

const (
	failedBinding        = "FailedBinding"
	provisioningFailed   = "ProvisioningFailed"
	provisioning         = "Provisioning"
	provisioned          = "ProvisioningSucceeded"
	externalProvisioning = "ExternalProvisioning"
)

// Unbound is a claim that no volume exists for. The event is believed only as
// long as the claim itself is not bound, and it is the latest word on it.
func Unbound(c evidence.Claim) *cause.Finding {
	if c.IsBound() {
		return nil
	}
	e := evidence.Latest(c.Events, failedBinding, provisioningFailed, "WaitForFirstConsumer",
		externalProvisioning, provisioning, provisioned)
	if e == nil || e.Reason != failedBinding {
		return nil
	}
	why := ofClaim(c, cause.VolumeUnbound, evidence.Text(e))
	if class := c.Spec.StorageClassName; class != nil && *class == "" {
		why.Message += cause.NoClassWanted
	}
	return &cause.Finding{Reason: e.Reason, At: evidence.FirstSeen(e), Cause: why}
}

// PendingClaim is the first claim of a pod that waits for something to be
// corrected; nil if none does. That it waits for its first consumer, the pod, is as
// it should be.
func PendingClaim(p evidence.Pod) *cause.Finding {
	for _, c := range p.Claims {
		if f := cmp.Or(lostClaim(c), deletedClaim(c), unprovisioned(c), unattended(c)); f != nil {
			return f
		}
	}
	return nil
}

// lostClaim is a claim whose volume does not exist any more.
func lostClaim(c evidence.Claim) *cause.Finding {
	if c.Status.Phase != corev1.ClaimLost {
		return nil
	}
	f := &cause.Finding{Cause: ofClaim(c, cause.ClaimLost, "its volume "+c.Spec.VolumeName+" does not exist any more")}
	if e := evidence.Latest(c.Events, "ClaimLost"); e != nil {
		f.Reason, f.Begun = e.Reason, evidence.FirstSeen(e)
	}
	return f
}

// deletedClaim is a claim that is being deleted: no pod gets it any more.
func deletedClaim(c evidence.Claim) *cause.Finding {
	if c.DeletionTimestamp == nil {
		return nil
	}
	return &cause.Finding{Begun: c.DeletionTimestamp.Time, Cause: ofClaim(c, cause.ClaimTerminating, "is being "+
		"deleted")}
}

// unprovisioned is a claim for which making a volume has failed.
func unprovisioned(c evidence.Claim) *cause.Finding {
	e := evidence.Latest(c.Events, provisioningFailed, provisioned)
	if c.IsBound() || e == nil || e.Reason != provisioningFailed {
		return nil
	}
	code := cause.VolumePending
	if strings.Contains(e.Message, storagev1.GroupName) && strings.Contains(e.Message, "not found") {
		code = cause.StorageClassMissing
	}
	return &cause.Finding{Reason: e.Reason, Begun: evidence.FirstSeen(e), Cause: ofClaim(c, code, evidence.Text(e))}
}

// unattended is a claim that waits for a provisioner, which has not begun for so long
// that it does not seem to run: one that does says so at once.
func unattended(c evidence.Claim) *cause.Finding {
	e := evidence.Latest(c.Events, externalProvisioning)
	if c.IsBound() || e == nil || evidence.Latest(c.Events, provisioning, provisioned) != nil ||
		evidence.LastSeen(e).Sub(evidence.FirstSeen(e)) < cause.SilentAfter {
		return nil
	}
	text := "its provisioner has not begun to make a volume"
	if m := provisioner.FindStringSubmatch(e.Message); m != nil {
		text = fmt.Sprintf("provisioner %s has not begun to make its volume", m[1])
	}
	return &cause.Finding{
		Reason: e.Reason, Begun: evidence.FirstSeen(e),
		Cause: ofClaim(c, cause.ProvisionerSilent, text),
	}
}

const provisioner pattern.Expr = `external provisioner '([^']+)'`

func ofClaim(c evidence.Claim, code, text string) v1.Cause {
	return v1.Cause{
		Code:    code,
		Message: fmt.Sprintf("volume claim %s: %s", c.Name, text),
		Object:  kube.Object("PersistentVolumeClaim", c.Name),
	}
}

const (
	failedMount  = "FailedMount"
	failedAttach = "FailedAttachVolume"
	changesOwner = "VolumePermissionChangeInProgress"
	attached     = "SuccessfulAttachVolume"
)

// NotMounted reads the events about mounting. Once or twice is usual, unless the
// kubelet's time was up, which takes two minutes; "not registered" is its cache warming
// up.
func NotMounted(p evidence.Pod) *cause.Finding {
	if e := multiAttach(p); e != nil {
		return ofEvent(p, cause.VolumeNotMounted, e) // the kubelet's time-outs after it say less
	}
	e, timedOut := mountTrouble(p)
	owned := evidence.Latest(p.Events, changesOwner, sandboxFailed, networkNotReady, failedPrepare)
	switch {
	case owned != nil && owned.Reason == changesOwner &&
		(e == nil || evidence.LastSeen(owned).After(evidence.LastSeen(e))):
		f := ofEvent(p, cause.VolumeOwnership, owned)
		f.Passes = true
		return f
	case e == nil:
		return timeUp(p, timedOut)
	case missesObject(e.Message):
		f := ofEvent(p, cause.VolumeMissingObject, e)
		f.Passes = strings.Contains(e.Message, secretText(p.Labels[kube.LabelCanonicalID])) // cert-manager makes it
		return f
	case missingClaim.MatchString(e.Message):
		return ofEvent(p, cause.ClaimMissing, e)
	case timedOut != nil, evidence.Count(e) > 2:
		return ofEvent(p, cause.VolumeNotMounted, e)
	}
	return nil
}

// mountTrouble is the latest event that says what is wrong with a volume, and the latest
// after it that says no more than that the time was up.
func mountTrouble(p evidence.Pod) (specific, timedOut *corev1.Event) {
	var waited []string
	arrived := false // the volumes are attached since
	for _, e := range slices.Backward(p.Events) {
		switch text := evidence.Text(e); {
		case e.Reason == attached:
			arrived = true
		case e.Reason != failedMount && e.Reason != failedAttach, e.Reason == failedAttach && arrived:
		case unmounted.MatchString(text) && timeIsUp.MatchString(text):
			if timedOut == nil {
				timedOut = e
				waited = strings.Fields(unmounted.FindStringSubmatch(text)[1])
			}
		case strings.Contains(text, "not registered"), evidence.NodeIsSlow(text), !concerns(p, text, waited):
		default:
			return e, timedOut
		}
	}
	return nil, timedOut
}

const (
	// The kubelet has waited for two minutes for volumes that it does not say more about.
	unmounted pattern.Expr = `unmounted volumes=\[([^\]]*)\]`
	timeIsUp  pattern.Expr = `timed out|deadline exceeded`
	// What it says of volumes in brackets, which are named before it.
	lists        pattern.Expr = `(?:unmounted|unattached|failed to process) volumes=\[[^\]]*\](?:[,:] |$)`
	missingClaim pattern.Expr = `persistentvolumeclaims? "[^"]*" not found`
)

// concerns is true for an event about one of the volumes that the kubelet waits for, as
// far as both say so: what was wrong with another one has passed.
func concerns(p evidence.Pod, text string, waited []string) bool {
	m := cause.FailedVolume.FindStringSubmatch(text)
	if m == nil || len(waited) == 0 || slices.Contains(waited, m[1]) {
		return true
	}
	return !slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m[1] })
}

func missesObject(message string) bool {
	return cause.NoObject.MatchString(message) || cause.NoSuchKey.MatchString(message)
}

// timeUp is all that is known of volumes that do not come, named by what the pod calls
// them; nil if nothing is.
func timeUp(p evidence.Pod, e *corev1.Event) *cause.Finding {
	if e == nil {
		return nil
	}
	f := ofEvent(p, cause.VolumeNotMounted, e)
	if waited := waitedFor(p, strings.Fields(unmounted.FindStringSubmatch(evidence.Text(e))[1])); waited != "" {
		f.Message = fmt.Sprintf("the node waits for %s: %s", waited, lists.ReplaceAllString(f.Message, ""))
	}
	return f
}

// waitedFor names volumes: of many, those of claims, which are the likely ones.
func waitedFor(p evidence.Pod, names []string) string {
	const few = 3
	var claimed, others []string
	for _, name := range names {
		at := slices.IndexFunc(p.Spec.Volumes, func(v corev1.Volume) bool {
			return v.Name == name && v.PersistentVolumeClaim != nil
		})
		if at < 0 {
			others = append(others, name)
			continue
		}
		claimed = append(claimed, name+" (claim "+p.Spec.Volumes[at].PersistentVolumeClaim.ClaimName+")")
	}
	all := slices.Concat(claimed, others)
	switch n := len(all); {
	case n == 0:
		return ""
	case n == 1:
		return "volume " + all[0]
	case n <= few:
		return "volumes " + strings.Join(all, ", ")
	default:
		return fmt.Sprintf("%d volumes, among them %s", n, strings.Join(all[:few], ", "))
	}
}

// secretText is how the kubelet calls the Secret with the certificate of a workspace.
func secretText(id string) string { return fmt.Sprintf("secret %q", kube.CertificateSecret(id)) }

// multiAttach is the event that a volume is still attached to another node,
// until it is attached to this one or the pod has all it needs.
func multiAttach(p evidence.Pod) *corev1.Event {
	e := evidence.Latest(p.Events, failedAttach, attached)
	if p.Sandboxed() || e == nil || !strings.Contains(e.Message, "Multi-Attach") {
		return nil
	}
	return e
}

// AttachedElsewhere is a volume that has to leave another node first.
func AttachedElsewhere(p evidence.Pod) *cause.Finding {
	e := multiAttach(p)
	if e == nil {
		return nil
	}
	f := ofEvent(p, cause.VolumeNotMounted, e)
	f.Passes = true
	return f
}
