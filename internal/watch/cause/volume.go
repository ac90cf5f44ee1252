package cause

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
)

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
			Unmounted,
			"The node waits for the volume, and nothing says why. See whether the claim is bound (`kubectl get pvc{ns}`), whether it is attached (`kubectl get volumeattachments`), and what the storage's driver on the node logs.",
		},
	}
}
