package evidence

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

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
	case "Scheduled", "FailedScheduling", "NotTriggerScaleUp", "NodeNotReady", "TaintManagerEviction":
		return true
	}
	return slices.Contains(addsNode(), e.Reason)
}
