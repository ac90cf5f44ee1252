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
		{code: SandboxFailed, reasons: []string{sandboxFailed}, why: sandboxText, hint: "{why}"},
		{code: Evicted, hint: "The node ran out of what the message names, or the pod used more than it may. Raise the limit in {spec}, or use less. {anew}"},
		{code: Preempted, reasons: []string{"Preempting"}, hint: "A pod of a higher priority took its place. Ask for a higher priorityClassName, or add a node. {anew}"},
		{
			code: NodeOutOfResources, reasons: []string{"OutOfcpu", "OutOfmemory", "OutOfpods"},
			hint: "The node had no room left when the pod arrived. Lower {requests-field}, or try again: another node may have room. {anew}",
		},
		{code: NodeAffinity, hint: "The node's labels no longer fit what {spec} asks for. {anew}"},
		{code: DeadlineExceeded, hint: "It ran for longer than activeDeadlineSeconds permits. Raise that in {spec}. {again}"},
		{code: PodFailed, hint: "The pod has ended and is not restarted. {anew}"},
		{code: PodDeleted, hint: "The pod was deleted, or what it belonged to. {anew}"},
	}
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
				return exited(c, ContainerExited, t, fmt.Sprintf("ended with exit code %d", t.ExitCode))
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
