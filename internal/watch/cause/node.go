package cause

import (
	"fmt"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a node cannot run a pod, or a pod is over.
const (
	SandboxFailed      = "SandboxFailed"      // network or runtime of the node
	Evicted            = "Evicted"            // by the kubelet or for a drain
	Preempted          = "Preempted"          // for a pod of higher priority
	NodeOutOfResources = "NodeOutOfResources" // the node refused it: OutOfcpu, OutOfmemory, …
	NodeAffinity       = "NodeAffinity"       // the node no longer matches
	DeadlineExceeded   = "DeadlineExceeded"   // activeDeadlineSeconds
	PodFailed          = "PodFailed"          // for another reason
	PodDeleted         = "PodDeleted"         // the pod was deleted
)

const sandboxFailed = "FailedCreatePodSandBox"

func node() []entry {
	return []entry{
		{
			code: SandboxFailed, reasons: []string{sandboxFailed}, why: sandboxText, hint: "{why}",
			explanation: explanation{
				title:   "The node cannot set up the pod",
				meaning: "Before any container starts, the node makes a sandbox: the pod's network, and a small container that holds it. That fails.",
				signs: []string{
					"events FailedCreatePodSandBox about the pod",
				},
				remedies: []string{
					"If no address is free, delete pods, or ask your cluster administrator for a larger range.",
					"If the network plugin is not ready, look at its pod on the node.",
					"If the pause image cannot be pulled, make its registry reachable for the node.",
				},
				passes:  "The node tries again and again: what was a matter of load passes.",
				example: "node/sandbox-image",
			},
		},
		{
			code: Evicted, hint: "The node ran out of what the message names, or the pod used more than it may. Raise the limit in {spec}, or use less. {bring-back}",
			explanation: explanation{
				title:   "The node has put the pod out",
				meaning: "The node ran short of memory or disk, or the pod has used more disk than it may, and the node has ended it to protect the others. The pod object stays, and does not start again.",
				signs: []string{
					"the pod's phase is Failed, with reason Evicted and a message that names the resource",
				},
				remedies: []string{
					"Ask for what the pod needs (requests), so that a node with room is chosen, or use less.",
					"Raise the limit that the message names.",
				},
				passes:  "A controller makes another pod.",
				example: "collected/b51-evicted-memory-bare",
			},
		},
		{
			code: Preempted, reasons: []string{"Preempting"}, why: morePriority, hint: "A pod of a higher priority took its place. {why} {bring-back}",
			explanation: explanation{
				title:   "A more important pod took its place",
				meaning: "There was no room for a pod of a higher priority, and this one was ended for it.",
				signs: []string{
					"the pod's reason is Preempting, or an event Preempted is about it",
				},
				remedies: []string{
					"Ask for a higher priorityClassName.",
					"Add a node.",
				},
				example: "node/preempted",
			},
		},
		{
			code: NodeOutOfResources, reasons: []string{"OutOfcpu", "OutOfmemory", "OutOfpods"},
			hint: "The node had no room left when the pod arrived. Lower {requests-field}, or try again: another node may have room. {bring-back}",
			explanation: explanation{
				title:   "The node had no room when the pod arrived",
				meaning: "Between the scheduler's choice and the pod's arrival, the room on the node was taken, or the pod was put there without the scheduler (nodeName).",
				signs: []string{
					"the pod's phase is Failed, with reason OutOfcpu, OutOfmemory or OutOfpods",
				},
				remedies: []string{
					"Create it again: another node may have room.",
					"Leave out nodeName, or ask for less.",
				},
				example: "node/out-of-cpu",
			},
		},
		{
			code: NodeAffinity, why: misfit, hint: "{why} {bring-back}",
			explanation: explanation{
				title:   "The node's labels do not fit any more",
				meaning: "The node was chosen by its labels, which have changed by the time that its kubelet looked at the pod.",
				signs: []string{
					"the pod's phase is Failed, with reason NodeAffinity",
				},
				remedies: []string{
					"Create it again.",
					"Correct the node's labels, or nodeSelector and affinity.",
				},
				example: "node/affinity",
			},
		},
		{
			code: DeadlineExceeded, why: tooLong, hint: "{why}",
			explanation: explanation{
				title:   "The pod ran for longer than it may",
				meaning: "activeDeadlineSeconds limits how long a pod may run, and that time is over.",
				signs: []string{
					"the pod's phase is Failed, with reason DeadlineExceeded",
				},
				remedies: []string{
					"Raise activeDeadlineSeconds, or leave it out.",
				},
				example: "recordings/deadline-exceeded",
			},
		},
		{
			code: PodFailed, hint: "The pod has ended and is not restarted. {bring-back}",
			explanation: explanation{
				title:   "The pod has ended",
				meaning: "The pod's phase is Failed, and it does not start again. The message says why, as far as the node has said so.",
				signs: []string{
					"the pod's phase is Failed",
				},
				remedies: []string{
					"Create it again, if it is still needed.",
				},
				example: "collected/o09-node-shutdown",
			},
		},
		{
			code: PodDeleted, hint: "The pod was deleted, or what it belonged to. {bring-back}",
			explanation: explanation{
				title:   "The pod was deleted",
				meaning: "Somebody has deleted the pod, or what it belonged to, or its node was drained.",
				signs: []string{
					"the pod does not exist any more",
				},
				remedies: []string{
					"Provision the workspace again, or create the pod again.",
				},
			},
		},
	}
}

// No blueprint has a priority, chooses nodes or limits how long a pod runs: of a workspace, the
// cluster has added that to its pod.

func morePriority(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return "If that happens again, ask your cluster administrator for a node more, or a higher priority for workspaces."
	}
	return "Ask for a higher priorityClassName, or add a node."
}

func misfit(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return "The node's labels have changed, and do not fit what the pod asks for."
	}
	return "The node's labels no longer fit what " + a.spec() + " asks for."
}

func tooLong(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return a.back() + " It ran for longer than activeDeadlineSeconds permits, which the cluster has added to its pod: ask your cluster administrator."
	}
	return "It ran for longer than activeDeadlineSeconds permits. Raise that in " + a.spec() + ". " + a.again()
}

// noSandbox is a node that cannot set up the pod's network. It fails nothing: the
// kubelet keeps trying.
func noSandbox(p evidence.Pod) *Finding {
	e := evidence.Latest(p.Events, sandboxFailed, networkNotReady)
	switch {
	case e == nil:
		return nil
	case e.Reason == networkNotReady:
		return noNetwork(p, e)
	}
	return ofEvent(p, SandboxFailed, e)
}

// OfFailed says why a pod's phase is Failed: by the pod's own reason if it has
// one (it was evicted, refused by the node, out of time), else by the container
// that ended with an error.
func OfFailed(p evidence.Pod, policy Policy) Finding {
	status := p.Status
	if status.Reason == "" {
		for _, c := range p.Containers {
			if f, ok := crashed(c, policy); ok {
				return f
			}
			if t := c.Ended(); t != nil && t.ExitCode != 0 {
				return withWords(exited(c, ContainerExited, t, fmt.Sprintf("ended with exit code %d", t.ExitCode)), t)
			}
		}
	}
	text := strings.TrimSpace(status.Message)
	switch {
	case status.Reason != "" && text != "":
		text = status.Reason + ": " + text
	case text == "":
		text = "the pod failed" + strings.TrimSuffix(": "+status.Reason, ": ")
	}
	f := ofPod(p, phaseCode(status.Reason), text)
	f.Reason = status.Reason
	return *f
}

// phaseCode sorts the reasons for which a pod's phase is Failed.
func phaseCode(reason string) string {
	switch {
	case reason == "Evicted":
		return Evicted
	case reason == "Preempting", reason == "Preempted":
		return Preempted
	case strings.HasPrefix(reason, "OutOf"):
		return NodeOutOfResources
	case reason == "NodeAffinity":
		return NodeAffinity
	case reason == "DeadlineExceeded":
		return DeadlineExceeded
	}
	return PodFailed
}

// Deleted is the cause of what does not exist any more, named as kind/name.
func Deleted(ref string) *v1.Cause {
	return &v1.Cause{Code: PodDeleted, Message: ref + " was deleted", Object: ref}
}
