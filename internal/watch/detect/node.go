package detect

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

const (
	sandboxFailed   = "FailedCreatePodSandBox"
	nodeNotReady    = "NodeNotReady"
	networkNotReady = "NetworkNotReady"
	nodeLost        = "NodeLost"
	failedPrepare   = "FailedPrepareDynamicResources"
	providerFailed  = "ProviderFailed"
	evicted         = "Evicted"
)

// Node is why the node of a pod cannot run it, by what the node itself says, or what
// others say of it in the pod; nil if it can, as far as is known.
func Node(p evidence.Pod) *cause.Finding {
	if p.Spec.NodeName == "" {
		return nil
	}
	if ready := p.Node.Ready(); ready != nil {
		return ofCondition(p, *ready)
	}
	lost := p.Status.Reason == nodeLost || p.Status.Phase == corev1.PodUnknown
	if said := evidence.Latest(p.Events, nodeNotReady); !lost && (said == nil || !unheard(p)) {
		return nil
	}
	code, what := cause.NodeNotReady, "has not been ready"
	if lost {
		code, what = cause.NodeLost, unheardOf
	}
	return ofNode(p, code, what, p.Since(corev1.PodReady), p.Status.Message)
}

// unheard is true for a pod whose containers were ready while it is not: what the node
// said last is not believed any more.
func unheard(p evidence.Pod) bool { return p.ContainersReady() && !kube.IsReady(p.Pod) }

// ofCondition reads the node's condition Ready.
func ofCondition(p evidence.Pod, ready corev1.NodeCondition) *cause.Finding {
	since := ready.LastTransitionTime.Time
	switch {
	case ready.Status == corev1.ConditionTrue:
		return nil
	case ready.Status == corev1.ConditionUnknown:
		if !p.Node.Renewed.IsZero() && p.Node.Renewed.Before(since) {
			since = p.Node.Renewed
		}
		return ofNode(p, cause.NodeLost, unheardOf, since, ready.Message)
	case network.MatchString(ready.Message):
		return ofNode(p, cause.NetworkNotReady, "has had no network", since, ready.Message)
	}
	return ofNode(p, cause.NodeNotReady, "has not been ready", since, ready.Message)
}

const network pattern.Expr = `(?i)NetworkPluginNotReady|cni (?:plugin|config) (?:not initialized|uninitialized)` +
	`|network plugin is not ready`

// unheardOf is said of a node that does not report.
const unheardOf = "has not been heard from"

// ofNode makes a finding about the node of a pod.
func ofNode(p evidence.Pod, code, what string, since time.Time, why string) *cause.Finding {
	name := p.Spec.NodeName
	f := &cause.Finding{Begun: since, Cause: v1.Cause{
		Code: code, Message: "node " + name + " " + what,
		Object: kube.Object("Node", name),
	}}
	if !since.IsZero() {
		f.Message += " since " + moment(since)
	}
	if why = strings.TrimSpace(why); why != "" {
		f.Message += ": " + why
	}
	return f
}

// moment is a time as it is said in a message.
func moment(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// NoSandbox is what keeps the node from making the pod's sandbox, in which its containers are started, by the newest
// event about that: a network or a device that it cannot set up, or a network that it does not have. It fails nothing:
// the kubelet keeps trying.
func NoSandbox(p evidence.Pod) *cause.Finding {
	e := evidence.Latest(p.Events, sandboxFailed, networkNotReady, failedPrepare)
	switch {
	case e == nil:
		return nil
	case e.Reason == failedPrepare:
		return ofEvent(p, cause.ResourceNotReady, e)
	case e.Reason == networkNotReady:
		return noNetwork(p, e)
	}
	return ofEvent(p, cause.SandboxFailed, e)
}

// Provider is a pod that the provider behind a virtual node could not make. It tries again some times; the phase stays
// Pending.
func Provider(p evidence.Pod) *cause.Finding {
	if p.Status.Reason != providerFailed {
		return nil
	}
	f := ofPod(p, cause.ProviderFailed, "the provider of node "+p.Spec.NodeName+" could not make the pod: "+
		strings.TrimSpace(p.Status.Message))
	f.Reason, f.Passes = providerFailed, true
	return f
}

// noNetwork is the kubelet's word on a node whose network plugin is not there.
func noNetwork(p evidence.Pod, e *corev1.Event) *cause.Finding {
	f := ofNode(p, cause.NetworkNotReady, "has had no network", evidence.FirstSeen(e), evidence.Text(e))
	f.Reason = e.Reason
	return f
}

// WaitsOnNode is true for a pod of which only its node can say why it does not get on:
// nobody has said anything about it for a while, it should have ended, or it was ready.
func WaitsOnNode(p evidence.Pod, now time.Time) bool {
	if p.Spec.NodeName == "" {
		return false
	}
	if p.DeletionTimestamp != nil {
		return Overdue(p) != nil && !now.Before(p.DeletionTimestamp.Add(cause.SilentAfter))
	}
	if f, from := SilentKubelet(p); f != nil && !now.Before(from) {
		return true
	}
	return Node(p) != nil || evidence.Latest(p.Events, networkNotReady) != nil && !p.Sandboxed() ||
		len(p.Status.ContainerStatuses) > 0 && unheard(p) && p.ClosedGate() == "" &&
			!now.Before(p.Since(corev1.PodReady).Add(cause.SilentAfter))
}

// SilentKubelet is a pod of which its node says nothing; nil if it does. The pod is
// not begun by then, and the time at which that is a cause is in the finding.
func SilentKubelet(p evidence.Pod) (f *cause.Finding, from time.Time) {
	// A pod that was given to its node without a scheduler does not say when.
	placed := evidence.Later(p.CreationTimestamp.Time, p.Since(corev1.PodScheduled))
	if p.Spec.NodeName == "" || p.Sandboxed() || placed.IsZero() {
		return nil, time.Time{}
	}
	told := false // whether the events about the pod are known
	for _, e := range p.Events {
		if !evidence.IsOfPlacing(e) {
			return nil, time.Time{}
		}
		told = told || e.Reason == "Scheduled"
	}
	for _, c := range p.Containers {
		if _, _, waiting := c.Waiting(); !waiting {
			return nil, time.Time{}
		}
	}
	switch {
	case p.Status.StartTime == nil && len(p.Status.ContainerStatuses) == 0:
		return ofNode(p, cause.KubeletSilent, "has said nothing about the pod", placed, ""),
			placed.Add(cause.SilentAfter)
	case told:
		// What is usual, such as a volume that does not come, it says within two minutes.
		return ofNode(p, cause.KubeletSilent, "has taken the pod, and has said nothing about it", placed, ""),
			placed.Add(4 * cause.SilentAfter)
	}
	return nil, time.Time{}
}

// Overdue is a pod that is being deleted and should have ended, for a caller who says
// that it has had the time; nil if something else than its node keeps it.
func Overdue(p evidence.Pod) *cause.Finding {
	if p.DeletionTimestamp == nil || p.Spec.NodeName == "" {
		return nil
	}
	ended := len(p.Status.ContainerStatuses) > 0
	for _, c := range p.Containers {
		ended = ended && (c.Status.State.Running == nil)
	}
	if ended && len(p.Finalizers) > 0 {
		return nil
	}
	if f := Node(p); f != nil {
		return f
	}
	what := "has not ended the pod"
	if ended {
		what = "has ended the pod's containers, but not removed it"
	}
	f := ofPod(p, cause.TerminationOverdue,
		fmt.Sprintf("node %s %s, whose time was up at %s", p.Spec.NodeName, what, moment(p.DeletionTimestamp.Time)))
	f.Begun = p.DeletionTimestamp.Time
	return f
}

// Held is a pod that has ended on its node, and that a finalizer keeps; nil if none does.
func Held(p evidence.Pod, text string) *cause.Finding {
	if len(p.Finalizers) == 0 {
		return nil
	}
	f := ofPod(p, cause.FinalizerHolds, "the pod has ended, and is "+text)
	f.Begun = p.DeletionTimestamp.Time
	return f
}

// Over says why a pod's phase is Failed, by the pod's own reason: it was evicted, refused by the node, out of time.
func Over(p evidence.Pod) *cause.Finding {
	reason, text := p.Status.Reason, strings.TrimSpace(p.Status.Message)
	switch {
	case reason != "" && text != "":
		text = reason + ": " + text
	case text == "":
		text = "the pod failed" + strings.TrimSuffix(": "+reason, ": ")
	}
	f := ofPod(p, phaseCode(reason, text), text)
	f.Reason = reason
	if e := evidence.Latest(p.Events, reason); e != nil { // the pod itself does not say when
		f.Begun = evidence.FirstSeen(e)
	}
	return f
}

const (
	// noProcesses is what the kubelet says where its node has no process IDs left: of a pod that it ends for that, of
	// one that it does not take meanwhile, and of the node.
	noProcesses pattern.Expr = `low on resource: pids\b|PIDPressure|insufficient PID`
	// refusedByNode is how the kubelet begins what it says of a pod that it does not take.
	refusedByNode pattern.Expr = `Pod was rejected`
	// nothingToPreempt is what it says where a pod that may take the place of others finds none to take.
	nothingToPreempt pattern.Expr = `finding a set of pods to preempt`
	ofDevice         pattern.Expr = `(?i)healthy devices?|device ?plugin|number of devices|devices? unavailable`
)

// refusals are the reasons for which a kubelet refuses a pod as it is specified, besides those that have a code of
// their own.
const refusals pattern.Expr = `^(?:UnexpectedAdmissionError|SysctlForbidden|AppArmor|SeccompProfile|PodOSNotSupported` +
	`|TopologyAffinityError|PodOSSelectorNodeLabelDoesNotMatch|PodFeatureUnsupported|InvalidNodeInfo|NodeShutdown` +
	`|VolumeAttachmentLimitExceeded|InPlacePodVerticalScaling|Forbidden.*|.*Forbidden|.*NotSupported|.*Unsupported)$`

// Refuses is true for a pod that its node did not take: nothing of it has run there.
func Refuses(p evidence.Pod) bool {
	code := phaseCode(p.Status.Reason, p.Status.Message)
	return p.Status.Phase == corev1.PodFailed && (code == cause.PodRejected || code == cause.DeviceNotReady ||
		code == cause.NodeOutOfResources || code == cause.NodeAffinity)
}

// Rejected is why the nodes refuse every pod of a workload, which has made n of them, by the last.
func Rejected(p evidence.Pod, n int) *cause.Finding {
	f := Over(p)
	f.Begun = p.CreationTimestamp.Time
	f.Message = "pod " + p.Name + " was refused by node " + p.Spec.NodeName + ": " + f.Message
	if n > 1 {
		were := "were"
		if n == 2 {
			were = "was"
		}
		f.Message += fmt.Sprintf("; and so %s %s before it", were, english.Plural(n-1, "pod"))
	}
	return f
}

// phaseCode sorts the reasons for which a pod's phase is Failed.
func phaseCode(reason, text string) string {
	switch {
	case reason == evicted && noProcesses.MatchString(text):
		return cause.NodeOutOfProcesses
	case reason == evicted:
		return cause.Evicted
	case reason == "Preempting", reason == "Preempted":
		return cause.Preempted
	case strings.HasPrefix(reason, "OutOf"), nothingToPreempt.MatchString(text):
		return cause.NodeOutOfResources
	case reason == "NodeAffinity":
		return cause.NodeAffinity
	case reason == "DeadlineExceeded":
		return cause.DeadlineExceeded
	case !refusals.MatchString(reason) && !refusedByNode.MatchString(text):
		return cause.PodFailed
	case ofDevice.MatchString(text):
		return cause.DeviceNotReady
	}
	return cause.PodRejected
}

// Deleted is the cause of what does not exist any more, named as kind/name.
func Deleted(ref string) *v1.Cause {
	return &v1.Cause{Code: cause.PodDeleted, Message: ref + " was deleted", Object: ref}
}
