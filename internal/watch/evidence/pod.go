// Package evidence is what is known of a pod at one moment: its specification and
// status, the events about it and its containers, and its claims. It says what
// the cluster reports; package detect says what that means.
package evidence

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
)

// Pod is one pod and what is known about it.
type Pod struct {
	*corev1.Pod
	// Containers are the init containers, then the main ones, in the order of the
	// specification.
	Containers []Container
	// Events are those about the pod and its containers, the latest last.
	Events []*corev1.Event
	Claims []Claim
	// Node is the one that the pod is on.
	Node Node
}

// NewPod joins a pod with its events, in the order in which they were written,
// and its claims.
func NewPod(pod *corev1.Pod, events []*corev1.Event, claims []Claim) Pod {
	return Pod{Pod: pod, Containers: containers(pod, events), Events: events, Claims: claims}
}

// Ref names the pod in a report.
func (p Pod) Ref() string { return kube.Object("Pod", p.Name) }

// Since is when a condition last changed; zero if the pod does not have it.
func (p Pod) Since(kind corev1.PodConditionType) time.Time {
	if c := kube.Condition(p.Pod, kind); c != nil {
		return c.LastTransitionTime.Time
	}
	return time.Time{}
}

func (p Pod) isTrue(kind corev1.PodConditionType) bool {
	c := kube.Condition(p.Pod, kind)
	return c != nil && c.Status == corev1.ConditionTrue
}

// Sandboxed is true once volumes are mounted and the network is up.
func (p Pod) Sandboxed() bool {
	if kube.Condition(p.Pod, corev1.PodReadyToStartContainers) != nil {
		return p.isTrue(corev1.PodReadyToStartContainers)
	}
	return p.Status.PodIP != ""
}

// ContainersReady is true if every container that has to be ready is.
func (p Pod) ContainersReady() bool {
	for _, c := range p.Containers {
		if c.Serves() && !c.IsReady() {
			return false
		}
	}
	return true
}

// ClosedGate is the first readiness gate whose condition is not true; empty if
// there is none.
func (p Pod) ClosedGate() string {
	for _, gate := range p.Spec.ReadinessGates {
		if !p.isTrue(gate.ConditionType) {
			return string(gate.ConditionType)
		}
	}
	return ""
}

// addsNode are the events that a node is on its way: TriggeredScaleUp is Cluster
// Autoscaler's, Nominated is Karpenter's.
func addsNode() []string { return []string{"TriggeredScaleUp", nominated} }

// Growing is the autoscaler's event that a node is on its way, unless it has
// changed its mind since; nil if no node is on its way.
func (p Pod) Growing() *corev1.Event {
	e := p.scaling()
	if e == nil || e.Reason == notScaledUp || e.Reason == failedScaleUp || addsNone(e) || e.Reason == nominated &&
		p.nominations() > mostNominations {
		return nil
	}
	return e
}

const (
	notScaledUp   = "NotTriggerScaleUp"
	failedScaleUp = "FailedScaleUp"
	nominated     = "Nominated"
	// mostNominations is how many nodes may have been on their way for one pod.
	mostNominations = 3
)

// scaling is the last that an autoscaler has said about the pod; nil if nothing.
func (p Pod) scaling() *corev1.Event {
	for _, e := range slices.Backward(p.Events) {
		if slices.Contains(append(addsNode(), notScaledUp, failedScaleUp), e.Reason) || addsNone(e) {
			return e
		}
	}
	return nil
}

// addsNone is true for Karpenter's event that no node it may add takes the pod.
func addsNone(e *corev1.Event) bool {
	return e.Reason == "FailedScheduling" && (e.Source.Component == "karpenter" || e.ReportingController == "karpenter")
}

// nominations are the nodes that were to come for the pod, each once: an event is written again while one is on its
// way.
func (p Pod) nominations() int {
	nodes := map[string]bool{}
	for _, e := range p.Events {
		if e.Reason == nominated {
			nodes[Text(e)] = true
		}
	}
	return len(nodes)
}

// triedToGrow is how Cluster Autoscaler says that it would add a node, and does not because that has failed before or
// has a limit. What it says besides is about groups of nodes that the pod does not fit.
const triedToGrow pattern.Expr = `backoff after failed scale-up|max node group size reached|max cluster ` +
	`\S+ limit reached`

// mostOfAutoscaler is how much of its words is quoted: Karpenter lists each pool of nodes.
const mostOfAutoscaler = 500

// NotGrowing says why the autoscaler adds no node though it would; empty if nothing is known.
func (p Pod) NotGrowing() string {
	e := p.scaling()
	switch {
	case e == nil:
	case e.Reason == failedScaleUp, addsNone(e), e.Reason == notScaledUp && triedToGrow.MatchString(Text(e)):
		return fault.Shorten(Text(e), mostOfAutoscaler)
	case e.Reason == nominated && p.nominations() > mostNominations:
		return fmt.Sprintf("it was nominated for %d nodes, none of which has come", p.nominations())
	}
	return ""
}

// EndedAt is when the last container ended.
func (p Pod) EndedAt() (at time.Time) {
	for _, c := range p.Containers {
		if t := c.Status.State.Terminated; t != nil {
			at = Later(at, t.FinishedAt.Time)
		}
	}
	return at
}

// ProgressedAt is when the pod last made progress: a condition became true, a
// container started or an init container completed, an image or a volume arrived, a
// node was to be added.
func (p Pod) ProgressedAt() time.Time {
	at := p.CreationTimestamp.Time
	for _, kind := range []corev1.PodConditionType{
		corev1.PodScheduled, corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady,
	} {
		if p.isTrue(kind) {
			at = Later(at, p.Since(kind))
		}
	}
	for _, c := range p.Containers {
		switch state := c.Status.State; {
		case state.Running != nil && c.Status.RestartCount == 0:
			at = Later(at, state.Running.StartedAt.Time)
		case state.Terminated != nil && state.Terminated.ExitCode == 0 && c.Init:
			at = Later(at, state.Terminated.FinishedAt.Time)
		}
	}
	if e := Latest(p.Events, addsNode()...); e != nil {
		at = Later(at, LastSeen(e))
	}
	for _, e := range p.Events {
		switch e.Reason {
		case "Pulled", "SuccessfulAttachVolume", "Scheduled":
			at = Later(at, FirstSeen(e))
		}
	}
	return at
}

// StatusChangedAt is when anything in the pod's status was last changed, by whom
// ever: what a condition says may change while its time does not. Zero if nobody
// has recorded that.
func (p Pod) StatusChangedAt() (at time.Time) {
	for _, written := range p.ManagedFields {
		if written.Time != nil && written.Subresource == "status" {
			at = Later(at, written.Time.Time)
		}
	}
	return at
}

// Later is the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Claim is a PersistentVolumeClaim that a pod mounts, with the events about it.
// It is what it says now; its events may be of before.
type Claim struct {
	*corev1.PersistentVolumeClaim
	Events []*corev1.Event
}

// IsBound is true once the claim has a volume.
func (c Claim) IsBound() bool { return c.Status.Phase == corev1.ClaimBound }

// ClaimNames are the names of the claims that a pod mounts.
func ClaimNames(pod *corev1.Pod) (names []string) {
	for _, v := range pod.Spec.Volumes {
		switch {
		case v.PersistentVolumeClaim != nil:
			names = append(names, v.PersistentVolumeClaim.ClaimName)
		case v.Ephemeral != nil:
			names = append(names, pod.Name+"-"+v.Name)
		}
	}
	return names
}

// Node is what is known of the node that a pod is on; often nothing, for not everybody
// may read nodes.
type Node struct {
	*corev1.Node
	// Renewed is when the kubelet last said that it is there, by its Lease.
	Renewed time.Time
}

// Ready is the node's condition; nil if it is not known.
func (n Node) Ready() *corev1.NodeCondition {
	if n.Node == nil {
		return nil
	}
	for i := range n.Status.Conditions {
		if n.Status.Conditions[i].Type == corev1.NodeReady {
			return &n.Status.Conditions[i]
		}
	}
	return nil
}

// IsOfPlacing is true for an event about a pod that does not show that its node, or who
// attaches its volumes, has taken it up.
func IsOfPlacing(e *corev1.Event) bool {
	switch e.Reason {
	case "Scheduled", "FailedScheduling", notScaledUp, failedScaleUp, "NodeNotReady", "TaintManagerEviction":
		return true
	}
	return slices.Contains(addsNode(), e.Reason)
}
