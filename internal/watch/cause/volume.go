package cause

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a node does not get a volume. A volume that another node still
// has is waited for, under Patient for the grace period.
const (
	VolumeMissingObject = "VolumeMissingObject" // the ConfigMap or Secret to mount does not exist
	VolumeNotMounted    = "VolumeNotMounted"    // attach or mount fails otherwise
)

const (
	failedMount  = "FailedMount"
	failedAttach = "FailedAttachVolume"
	attached     = "SuccessfulAttachVolume"
)

// notMounted reads the events about mounting. Once or twice is usual, unless the
// kubelet's time was up, which takes two minutes; "not registered" is its cache warming
// up.
func notMounted(p evidence.Pod) *Finding {
	if e := multiAttach(p); e != nil {
		return ofEvent(p, VolumeNotMounted, e) // the kubelet's time-outs after it say less
	}
	e, timedOut := mountTrouble(p)
	switch {
	case e == nil:
		return timeUp(p, timedOut)
	case missesObject(e.Message):
		f := ofEvent(p, VolumeMissingObject, e)
		f.Passes = strings.Contains(e.Message, secretText(p.Labels[kube.LabelCanonicalID])) // cert-manager makes it
		return f
	case missingClaim.MatchString(e.Message):
		return ofEvent(p, ClaimMissing, e)
	case timedOut != nil, evidence.Count(e) > 2:
		return ofEvent(p, VolumeNotMounted, e)
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
		case strings.Contains(text, "not registered"), passing(text), !concerns(p, text, waited):
		default:
			return e, timedOut
		}
	}
	return nil, timedOut
}

const (
	// The kubelet has waited for two minutes for volumes that it does not say more about.
	unmounted    pattern.Expr = `unmounted volumes=\[([^\]]*)\]`
	timeIsUp     pattern.Expr = `timed out|deadline exceeded`
	failedVolume pattern.Expr = `failed for volume "([^"]+)"`
	noSuchKey    pattern.Expr = `references non-existent (secret|config) key: (\S+)`
	missingClaim pattern.Expr = `persistentvolumeclaims? "[^"]*" not found`
)

// concerns is true for an event about one of the volumes that the kubelet waits for, as
// far as both say so: what was wrong with another one has passed.
func concerns(p evidence.Pod, text string, waited []string) bool {
	m := failedVolume.FindStringSubmatch(text)
	if m == nil || len(waited) == 0 || slices.Contains(waited, m[1]) {
		return true
	}
	return !slices.ContainsFunc(p.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == m[1] })
}

func missesObject(message string) bool {
	return noObject.MatchString(message) || noSuchKey.MatchString(message)
}

// timeUp is all that is known of volumes that do not come, named by what the pod calls
// them; nil if nothing is.
func timeUp(p evidence.Pod, e *corev1.Event) *Finding {
	if e == nil {
		return nil
	}
	f := ofEvent(p, VolumeNotMounted, e)
	var waited []string
	for name := range strings.FieldsSeq(unmounted.FindStringSubmatch(evidence.Text(e))[1]) {
		for _, v := range p.Spec.Volumes {
			if claim := v.PersistentVolumeClaim; v.Name == name && claim != nil {
				name += " (claim " + claim.ClaimName + ")"
			}
		}
		waited = append(waited, name)
	}
	if len(waited) > 0 {
		f.Message = fmt.Sprintf("the node waits for volume %s: %s", strings.Join(waited, ", "), f.Message)
	}
	return f
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

const usedBy pattern.Expr = `already used by pod\(s\) ([^,\s]+(?:, [^,\s]+)*)`

// mountText says what keeps a node from a volume, by what the kubelet or the storage's
// driver has said.
func mountText(c v1.Cause, a About) string {
	if m := usedBy.FindStringSubmatch(c.Message); m != nil {
		return fmt.Sprintf("The volume can be on one node at a time, and is on that of pod %s: it comes when that pod is gone, within 6 minutes if its node does not answer. "+
			"If both are to use it, they have to be on the same node, or the claim has to allow more (ReadWriteMany).", m[1])
	}
	text := advise(c.Message, mountTexts(),
		"The node cannot attach or mount the volume. `kubectl describe pvc{ns}` and `kubectl get volumeattachments` tell more, and the log of the storage's driver.")
	return strings.NewReplacer("{spec}", a.spec(), "{ns}", a.option()).Replace(text)
}

// mountTexts are what is usually said, and what that means.
func mountTexts() []advice {
	return []advice{
		{
			pattern.Expr(`Multi-Attach|exclusively attached|still attached to|already attached to`),
			"The volume can be on one node at a time, and another node still has it: it comes when the pod there is gone, within 6 minutes if that node does not answer. `kubectl get volumeattachments` shows where it is.",
		},
		{
			pattern.Expr(`(?i)not found in the list of registered CSI drivers|no such host.*csi\.sock|csi\.sock`),
			"The storage's driver does not run on the node, or has not registered there yet: `kubectl get csinodes` shows which nodes have it, `kubectl get pods --all-namespaces --output wide` its pods.",
		},
		{
			pattern.Expr(`(?i)code = NotFound|volume.* (?:not found|does not exist)|VolumeNotFound|InvalidVolume\.NotFound|disk .*not found`),
			"The disk behind the volume does not exist any more at the storage. Restore it there, or delete the claim and create it again, which begins with an empty volume (`kubectl get pvc{ns}`).",
		},
		{
			pattern.Expr(`(?i)need a /sbin/mount\.|unknown filesystem type|executable file not found`),
			"The node lacks the program that mounts such volumes, such as that of nfs-common or cifs-utils: your cluster administrator can install it there.",
		},
		{
			pattern.Expr(`(?i)access denied by server|permission denied|PermissionDenied|Unauthorized|Unauthenticated|AccessDenied`),
			"The storage refuses the node: what it exports to which addresses, or the credentials in the volume's Secret, have to be corrected.",
		},
		{
			pattern.Expr(`(?i)connection timed out|no route to host|connection refused|no such host|name or service not known|failed to resolve server|i/o timeout`),
			"The node does not reach the server of the storage: see whether the address that the message names is right and reachable from the node.",
		},
		{
			pattern.Expr(`(?i)hostPath type check failed`),
			"The path does not exist on the node, or is something else than \"type\" of the hostPath in {spec} says: correct it, or create it there.",
		},
		{
			pattern.Expr(`(?i)bad superblock|structure needs cleaning|fsck|corrupt|wrong fs type`),
			"The file system on the volume is damaged, or of another type than the volume says: have it checked at the storage before anything writes to it.",
		},
		{
			pattern.Expr(`(?i)AttachmentLimit|attachment limit|maximum number of|too many (?:disks|volumes)`),
			"The node has as many volumes attached as it takes: delete pods with volumes there that are not needed, or let the pod be on another node.",
		},
		{
			pattern.Expr(`(?i)external-attacher|timed out waiting for attach|AttachVolume.*deadline exceeded|AttachVolume.*timed out`),
			"The storage's driver does not answer: `kubectl get volumeattachments` shows how far it is, and its controller's log why.",
		},
		{
			unmounted,
			"The node waits for the volume, and nothing says why. See whether the claim is bound (`kubectl get pvc{ns}`), whether it is attached (`kubectl get volumeattachments`), and what the storage's driver on the node logs.",
		},
	}
}
