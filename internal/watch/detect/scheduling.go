package detect

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/pattern"
	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/evidence"
)

const failedScheduling = "FailedScheduling"

// Unscheduled is the scheduler's reason why a pod has no node, from the
// condition; the event comes a moment before it. Nil if no reason is known.
func Unscheduled(p evidence.Pod) *cause.Finding {
	found := ofPod(p, cause.Unschedulable, SchedulerSays(p))
	found.Reason = failedScheduling
	c := notScheduled(p)
	if c != nil {
		found.Begun = c.LastTransitionTime.Time
	} else if e := evidence.Latest(p.Events, failedScheduling); e != nil {
		found.Message, found.Begun = shortSchedule(evidence.Text(e)), evidence.FirstSeen(e)
	}
	switch {
	case len(p.Spec.SchedulingGates) > 0, c != nil && c.Reason == corev1.PodReasonSchedulingGated:
		found.Code, found.Message = cause.SchedulingGated, gateText(p, found.Message)
		return found
	case found.Message == "":
		return nil
	case c != nil && c.Reason == corev1.PodReasonSchedulerError, schedulerFailed.MatchString(found.Message):
		found.Code, found.Passes = cause.SchedulerError, true
		return found
	}
	if code := claimCode(found.Message); code != "" {
		found.Code = code
	}
	// Those whom the pod has preempted are ending, or a node begins to work.
	found.Passes = found.Code == cause.VolumePending || cause.WaitsForVolume(found.Message) ||
		p.Status.NominatedNodeName != "" || strings.Contains(found.Message, taintsOfNodes)
	if e := p.Growing(); e != nil {
		found.Message += cause.NodeIsAdded + evidence.Text(e)
		found.Passes = true
	} else if why := p.NotGrowing(); why != "" {
		found.Message += cause.NodeNotAdded + why
	}
	return found
}

// taintsOfNodes is how the taints begin that are states of a node, such as not-ready.
const taintsOfNodes = "node.kubernetes.io/"

// schedulerFailed is how the scheduler speaks of its own troubles.
const schedulerFailed pattern.Expr = `running \S+ \S*plugin|running "\S+" \S+ plugin|nodeinfo not found` +
	`|binding rejected|` +
	`Operation cannot be fulfilled|can't be assumed|context deadline exceeded|timed out waiting for the condition` +
	`|^(?:Post|Get|Put|Patch) "`

const aboutClaim pattern.Expr = `(?:^|: )(?:waiting for ephemeral volume controller to create the ` +
	`)?persistentvolumeclaim "[^"]*"`

// claimCode is the cause that the scheduler's words on a claim are of; empty if it
// speaks of none.
func claimCode(message string) string {
	switch {
	case !aboutClaim.MatchString(message):
		return ""
	case strings.Contains(message, "waiting for ephemeral volume controller"):
		return cause.VolumePending
	case strings.Contains(message, "bound to non-existent"):
		return cause.ClaimLost
	case strings.Contains(message, "is being deleted"):
		return cause.ClaimTerminating
	}
	return cause.ClaimMissing
}

// gateText names the gates that hold a pod back; otherwise, what was said of them.
func gateText(p evidence.Pod, said string) string {
	var names []string
	for _, gate := range p.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	switch len(names) {
	case 0:
		return said
	case 1:
		return "held back by the scheduling gate " + names[0]
	}
	return "held back by the scheduling gates " + strings.Join(names, ", ")
}

// SchedulerSays is the scheduler's reason in short, by the pod's condition; empty
// if it gives none.
func SchedulerSays(p evidence.Pod) string {
	if c := notScheduled(p); c != nil {
		return shortSchedule(c.Message)
	}
	return ""
}

func notScheduled(p evidence.Pod) *corev1.PodCondition {
	if c := kube.Condition(p.Pod, corev1.PodScheduled); c != nil && c.Status == corev1.ConditionFalse {
		return c
	}
	return nil
}

// shortSchedule is the scheduler's reason without its remarks on preemption:
// "0/1 nodes: 1 Insufficient cpu".
func shortSchedule(message string) string {
	message = strings.Replace(message, " nodes are available:", " nodes:", 1)
	message, _, _ = strings.Cut(message, ". ")
	return strings.TrimSuffix(message, ".")
}

// SilentScheduler is a pod that no scheduler has said anything about since it was
// made, since when is for the caller to judge. While it waits for the volumes of a pod, a
// scheduler says nothing: nil for a pod that may have to wait for one.
func SilentScheduler(p evidence.Pod) *cause.Finding {
	bound := 0
	for _, c := range p.Claims {
		if c.IsBound() {
			bound++
		}
	}
	if bound < len(evidence.ClaimNames(p.Pod)) {
		return nil
	}
	f := ofPod(p, cause.SchedulerSilent, fmt.Sprintf("scheduler %s has said nothing about the pod", schedulerOf(p)))
	f.Begun = p.CreationTimestamp.Time
	f.Passes = schedulerOf(p) == corev1.DefaultSchedulerName
	return f
}

func schedulerOf(p evidence.Pod) string {
	if p.Spec.SchedulerName == "" {
		return corev1.DefaultSchedulerName
	}
	return p.Spec.SchedulerName
}
