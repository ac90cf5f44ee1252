package cause

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a pod waits on its node. They fail nothing: a node comes back, or
// the pod is deleted and made again elsewhere.
const (
	NodeLost           = "NodeLost"           // nothing is heard of the node
	NodeNotReady       = "NodeNotReady"       // the node says that it is not ready
	NetworkNotReady    = "NetworkNotReady"    // its network plugin is not there
	KubeletSilent      = "KubeletSilent"      // the node says nothing about the pod
	TerminationOverdue = "TerminationOverdue" // the pod ends for longer than it may
)

const (
	nodeNotReady    = "NodeNotReady"
	networkNotReady = "NetworkNotReady"
	nodeLost        = "NodeLost"
)

// OfNode is why the node of a pod cannot run it, by what the node itself says, or what
// others say of it in the pod; nil if it can, as far as is known.
func OfNode(p evidence.Pod) *Finding {
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
	code, what := NodeNotReady, "is not ready"
	if lost {
		code, what = NodeLost, "is not heard of"
	}
	return ofNode(p, code, what, p.Since(corev1.PodReady), p.Status.Message)
}

// unheard is true for a pod whose containers were ready while it is not: what the node
// said last is not believed any more.
func unheard(p evidence.Pod) bool { return p.ContainersReady() && !kube.IsReady(p.Pod) }

// ofCondition reads the node's condition Ready.
func ofCondition(p evidence.Pod, ready corev1.NodeCondition) *Finding {
	since := ready.LastTransitionTime.Time
	switch {
	case ready.Status == corev1.ConditionTrue:
		return nil
	case ready.Status == corev1.ConditionUnknown:
		if !p.Node.Renewed.IsZero() && p.Node.Renewed.Before(since) {
			since = p.Node.Renewed
		}
		return ofNode(p, NodeLost, "is not heard of", since, ready.Message)
	case network.MatchString(ready.Message):
		return ofNode(p, NetworkNotReady, "has no network", since, ready.Message)
	}
	return ofNode(p, NodeNotReady, "is not ready", since, ready.Message)
}

const network pattern.Expr = `(?i)NetworkPluginNotReady|cni (?:plugin|config) (?:not initialized|uninitialized)|network plugin is not ready`

// ofNode makes a finding about the node of a pod.
func ofNode(p evidence.Pod, code, what string, since time.Time, why string) *Finding {
	name := p.Spec.NodeName
	f := &Finding{Begun: since, Cause: v1.Cause{
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

// noNetwork is the kubelet's word on a node whose network plugin is not there.
func noNetwork(p evidence.Pod, e *corev1.Event) *Finding {
	f := ofNode(p, NetworkNotReady, "has no network", evidence.FirstSeen(e), evidence.Text(e))
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
		return OfOverdue(p) != nil && !now.Before(p.DeletionTimestamp.Add(SilentAfter))
	}
	if f, from := OfSilentKubelet(p); f != nil && !now.Before(from) {
		return true
	}
	return OfNode(p) != nil || evidence.Latest(p.Events, networkNotReady) != nil && !p.Sandboxed() ||
		len(p.Status.ContainerStatuses) > 0 && unheard(p) && p.ClosedGate() == "" &&
			!now.Before(p.Since(corev1.PodReady).Add(SilentAfter))
}

// OfSilentKubelet is a pod of which its node says nothing; nil if it does. The pod is
// not begun by then, and the time at which that is a cause is in the finding.
func OfSilentKubelet(p evidence.Pod) (f *Finding, from time.Time) {
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
		return ofNode(p, KubeletSilent, "has said nothing about the pod", placed, ""), placed.Add(SilentAfter)
	case told:
		// What is usual, such as a volume that does not come, it says within two minutes.
		return ofNode(p, KubeletSilent, "has taken the pod, and has said nothing about it", placed, ""),
			placed.Add(4 * SilentAfter)
	}
	return nil, time.Time{}
}

// OfOverdue is a pod that is being deleted and should have ended, for a caller who says
// that it has had the time; nil if something else than its node keeps it.
func OfOverdue(p evidence.Pod) *Finding {
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
	if f := OfNode(p); f != nil {
		return f
	}
	what := "has not ended the pod"
	if ended {
		what = "has ended the pod's containers, but not removed it"
	}
	f := ofPod(p, TerminationOverdue,
		fmt.Sprintf("node %s %s, whose time was up at %s", p.Spec.NodeName, what, moment(p.DeletionTimestamp.Time)))
	f.Begun = p.DeletionTimestamp.Time
	return f
}

// elsewhere is what becomes of a pod whose node does not come back.
func elsewhere(c v1.Cause, a About) string {
	switch {
	case a.Controlled:
		return "Otherwise Kubernetes deletes the pod after about 5 minutes, and its controller makes another one on another node."
	case a.isWorkspace():
		remove := fault.Command("kubectl", "delete", "--force", c.Object) + a.option()
		return "Otherwise, when you are sure that the node does not come back, delete its pod: `" + remove + "`. " + a.back()
	}
	return "Otherwise create the pod again, on another node."
}

// sandboxText says what keeps a node from setting up a pod, by what its runtime or its
// network plugin has said.
func sandboxText(c v1.Cause, _ About) string {
	return advise(c.Message, []advice{
		{
			pattern.Expr(`(?i)no (?:IP )?addresses available|no more IPs|failed to (?:assign|allocate).*IP|range .*(?:full|exhausted)|ENOSPC.*ip`),
			"The node has no free IP address for the pod: pods there have to go, or its network needs a larger range, which is for your cluster administrator to change.",
		},
		{
			pattern.Expr(`(?i)cni (?:plugin|config)|/etc/cni/net\.d|failed to find plugin|stat /var/lib/calico|cilium.*(?:not ready|connection refused|no such file)|flannel.*subnet\.env`),
			"The node's network plugin is not ready or not installed there. Kubernetes keeps trying; if that does not help, look at the plugin's pod on the node, or ask your cluster administrator.",
		},
		{
			pattern.Expr(`(?i)failed to (?:pull|get) .*(?:sandbox|pause) image|failed to get sandbox image`),
			"The node cannot pull the small image that every pod begins with (pause), so that no pod can start there: its container runtime names the registry, which your cluster administrator has to make reachable.",
		},
		{
			pattern.Expr(`(?i)no runtime for|RuntimeHandler|runtime class`),
			"The node does not have the container runtime that \"runtimeClassName\" asks for: `kubectl get runtimeclass` shows those that there are.",
		},
		{
			pattern.Expr(`(?i)no space left on device`),
			"The node's disk is full. Kubernetes keeps trying; if nothing is removed there, your cluster administrator has to make room.",
		},
		{
			pattern.Expr(`(?i)deadline exceeded|timed out|is reserved for`),
			"The node's container runtime or its network plugin takes too long, as on a node that has too much to do. Kubernetes keeps trying.",
		},
	}, "The node could not set up the pod's network or its runtime. Kubernetes keeps trying; if that does not help, the node's network plugin is broken: ask your cluster administrator.")
}
