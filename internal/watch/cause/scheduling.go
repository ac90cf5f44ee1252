package cause

import (
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch/evidence"
)

// The causes for which a pod has no node. They fail nothing, for nodes come and
// go; under Patient, a node that is being added has to come within the grace period.
const (
	Unschedulable   = "Unschedulable"   // no node fits
	SchedulingGated = "SchedulingGated" // held back on purpose
)

const failedScheduling = "FailedScheduling"

// taintsOfNodes is how the taints begin that are states of a node, such as not-ready.
const taintsOfNodes = "node.kubernetes.io/"

func scheduling() []entry {
	return []entry{
		{
			code: Unschedulable, reasons: []string{failedScheduling}, person: true, hint: "{why}",
			why: func(c v1.Cause, a About) string { return nodes(c, a) + " " + room(c, a) },
		},
		{
			code: SchedulingGated,
			hint: "The pod is held back on purpose until its scheduling gate is removed: " +
				"`kubectl get pods{ns} -o jsonpath='{range .items[*]}{.metadata.name} {.spec.schedulingGates}{\"\\n\"}{end}'`.",
		},
	}
}

// OfUnscheduled is the scheduler's reason why a pod has no node, from the
// condition; the event comes a moment before it. Nil if none is known.
func OfUnscheduled(p evidence.Pod) *Finding {
	found := ofPod(p, Unschedulable, SchedulerSays(p))
	found.Reason = failedScheduling
	if c := notScheduled(p); c != nil {
		found.Begun = c.LastTransitionTime.Time
		if c.Reason == corev1.PodReasonSchedulingGated {
			found.Code = SchedulingGated
		}
	} else if e := evidence.Latest(p.Events, failedScheduling); e != nil {
		found.Message, found.Begun = shortSchedule(evidence.Text(e)), evidence.FirstSeen(e)
	}
	if found.Message == "" {
		return nil
	}
	if strings.HasPrefix(found.Message, "persistentvolumeclaim ") {
		found.Code = ClaimMissing
	}
	// Those whom the pod has preempted are ending, or a node begins to work.
	found.Passes = waitsForVolume(found.Message) || p.Status.NominatedNodeName != "" || strings.Contains(found.Message, taintsOfNodes)
	if e := p.Growing(); e != nil {
		found.Message += "; a node is being added: " + evidence.Text(e)
		found.Passes = true
	}
	return found
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

// growing is a node that is being added: Patient waits for it, but not for ever.
func growing(p evidence.Pod) []Finding {
	f := OfUnscheduled(p)
	if f == nil || p.Growing() == nil || OfPendingClaim(p) != nil {
		return nil
	}
	return []Finding{*f}
}

// shortSchedule is the scheduler's reason without its remarks on preemption:
// "0/1 nodes: 1 Insufficient cpu".
func shortSchedule(message string) string {
	message = strings.Replace(message, " nodes are available:", " nodes:", 1)
	message, _, _ = strings.Cut(message, ". ")
	return strings.TrimSuffix(message, ".")
}

var nodeCount = regexp.MustCompile(`^0/(\d+) nodes: (.*)`)

// nodes makes sentences of "0/3 nodes: 2 Insufficient cpu, 1 node(s) had …".
func nodes(c v1.Cause, a About) string {
	asks := ""
	if a.Requests != "" {
		asks = " It asks for " + a.Requests + "."
	}
	m := nodeCount.FindStringSubmatch(c.Message)
	if m == nil {
		return "No node can take the pod." + asks
	}
	if waitsForVolume(m[2]) {
		return "The pod is waiting for its volume to be provisioned."
	}
	var parts []string
	for reason := range strings.SplitSeq(m[2], ", ") {
		if text := nodeReason(reason, m[1] == "1"); text != "" {
			parts = append(parts, text)
		}
	}
	switch {
	case len(parts) == 0:
		return "No node can take the pod." + asks
	case m[1] == "1":
		return "The cluster's only node " + strings.Join(parts, " and ") + "." + asks
	}
	return "Of " + m[1] + " nodes, " + strings.Join(parts, ", ") + "." + asks
}

// room says how the pod gets a node: no resources bind a volume.
func room(c v1.Cause, a About) string {
	if waitsForVolume(c.Message) {
		return "If this persists, `kubectl describe pvc" + a.option() + "` says why."
	}
	return "Lower " + a.field(v1.Cause{}, "resources", "resources.requests") +
		", delete what is not needed, or add a node (`kubectl describe nodes` shows what is left)."
}

func waitsForVolume(message string) bool {
	return strings.Contains(message, "unbound immediate PersistentVolumeClaims")
}

// nodeReason says of how many nodes a reason holds, and what it means.
func nodeReason(reason string, only bool) string {
	number, _, _ := strings.Cut(reason, " ")
	n, err := strconv.Atoi(number)
	if err != nil {
		return ""
	}
	for _, s := range schedulerReasons() {
		switch {
		case !strings.Contains(reason, s.words):
		case only:
			return "has " + s.meaning
		case n == 1:
			return "1 has " + s.meaning
		default:
			return number + " have " + s.meaning
		}
	}
	return ""
}

// schedulerReasons are the scheduler's usual reasons, and what they mean.
func schedulerReasons() []struct{ words, meaning string } {
	return []struct{ words, meaning string }{
		{"Insufficient cpu", "too little cpu left"},
		{"Insufficient memory", "too little memory left"},
		{"Insufficient ephemeral-storage", "too little disk left"},
		{"Insufficient ", "too few of a special resource left"},
		{"Too many pods", "no room for more pods"},
		{"untolerated taint", "a taint: reserved for other pods"},
		{"didn't match Pod's node affinity/selector", "other labels than nodeSelector or affinity ask for"},
		{"didn't match pod anti-affinity", "a pod excluded by anti-affinity"},
		{"didn't match pod topology spread", "too many of such pods already"},
		{"were unschedulable", "been closed for new pods (cordoned)"},
		{"didn't have free ports", "the host port taken"},
		{"volume node affinity conflict", "no access to the pod's volume"},
		{"had no available volume zone", "no access to the pod's volume"},
	}
}
