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
