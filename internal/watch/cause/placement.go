package cause

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
)

// How the scheduler says that no node can take a pod, what that means, and what helps:
// each obstacle has a remedy of its own.

// obstacle is something that keeps nodes from taking a pod.
type obstacle struct {
	words string // of the scheduler
	// meaning goes on after "has" or "have".
	meaning string
	// helps is what to do about it, with the placeholders of a hint; empty if it is
	// nothing to be changed where there is another obstacle.
	helps string
	// asks is true if what the pod asks for matters.
	asks bool
}

const (
	lessOrMore = "Lower {requests-field}, delete what is not needed, or add a node (`kubectl describe nodes` shows what is left)."
	itsState   = "That is a state of the node, not of the pod, and goes with it: `kubectl describe nodes` says why, under Conditions. If it stays, ask your cluster administrator."
	itsPlace   = "The volume is in another place than the nodes that could take the pod: `kubectl describe pv` says where, under Node Affinity. A node has to have room there, or the claim has to be made again."
	itsDevices = "No node has enough free devices for the pod's resource claims: `kubectl get resourceclaims{ns}` shows who uses them, and `kubectl get resourceslices` all that exist."
)

// obstacles are those that are known, what a pod asks for before what its nodes are:
// the remedies are named in this order.
func obstacles() []obstacle {
	return []obstacle{
		{words: "Insufficient cpu", meaning: "too little cpu left", helps: lessOrMore, asks: true},
		{words: "Insufficient memory", meaning: "too little memory left", helps: lessOrMore, asks: true},
		{words: "Insufficient ephemeral-storage", meaning: "too little disk left", helps: lessOrMore, asks: true},
		{
			words: "Insufficient ", meaning: "too little of {resource} left", asks: true,
			helps: "Ask for less of {resource}, or add a node that has it: a device plugin offers it, which has to run there (`kubectl describe nodes`, under Allocatable).",
		},
		{
			words: "Too many pods", meaning: "no room for more pods",
			helps: "Every node takes a limited number of pods: delete some that are not needed, or add a node.",
		},
		{
			words: "have free ports", meaning: "the host port taken",
			helps: "Of the pods with the same host port, each needs a node of its own: remove \"hostPort\" from {spec}, or add a node.",
		},
		{
			words: "node affinity/selector", meaning: "other labels than nodeSelector or affinity ask for",
			helps: "Correct \"nodeSelector\" or \"affinity\" in {spec}, or label a node (`kubectl get nodes --show-labels`).",
		},
		{
			words: "anti-affinity rules", meaning: "a pod excluded by anti-affinity",
			helps: "Pods that exclude each other need a node each: add a node, make do with fewer replicas, or change \"affinity\" in {spec}.",
		},
		{
			words: "pod affinity rules", meaning: "none of the pods that affinity asks for",
			helps: "\"affinity\" in {spec} asks for a pod that has to run beside this one: see whether it does.",
		},
		{
			words: "(missing required label)", meaning: "no label by which pods are spread",
			helps: "\"topologySpreadConstraints\" in {spec} go by a label that nodes have to have (`kubectl get nodes --show-labels`).",
		},
		{
			words: "topology spread constraints", meaning: "too many of such pods already",
			helps: "Pods have to be spread evenly: add a node where there are fewer of them, or let \"topologySpreadConstraints\" in {spec} say ScheduleAnyway.",
		},
		{words: "volume node affinity conflict", meaning: "no access to the pod's volume", helps: itsPlace},
		{words: "no available volume zone", meaning: "no access to the pod's volume", helps: itsPlace},
		{
			words: "available persistent volumes to bind", meaning: "no free volume for the claim",
			helps: "No PersistentVolume fits the claim there: `kubectl get pv` shows those that are free. Create one, or name a storage class that makes them.",
		},
		{
			words: "enough free storage", meaning: "too little storage left for the claim",
			helps: "The storage of these nodes has no room for the claim: let the claim ask for less, or delete volumes that are not needed.",
		},
		{
			words: "non-existent pv", meaning: "no access to a volume that does not exist any more",
			helps: "The claim's volume was deleted: restore it, or delete the claim and create it again, without the data.",
		},
		{
			words: "max volume count", meaning: "as many volumes as they take",
			helps: "Every node takes a limited number of volumes: delete pods with volumes that are not needed, or add a node.",
		},
		{
			words: "no available disk", meaning: "the disk in use by another pod",
			helps: "Only one pod at a time can use the disk: delete the one that has it, or let them be on the same node.",
		},
		{
			words: "ReadWriteOncePod", meaning: "another pod with the same claim",
			helps: "Only one pod at a time may use the claim (ReadWriteOncePod): wait until the other one is gone, or delete it (`kubectl describe pvc{ns}` names it).",
		},
		{words: "allocate all claims", meaning: "no such device free", helps: itsDevices},
		{words: "resourceclaim", meaning: "no such device free", helps: itsDevices},
		{
			words: "were unschedulable", meaning: "been closed for new pods (cordoned)",
			helps: "Open a node again when its maintenance is over (`kubectl get nodes` shows which are closed, `kubectl uncordon NODE` opens one), or add one.",
		},
		{
			words: NodeTaints + "unschedulable", meaning: "been closed for new pods (cordoned)",
			helps: "Open a node again (`kubectl uncordon NODE`), or add one.",
		},
		{words: NodeTaints + "disk-pressure", meaning: "too little free disk (disk pressure)", helps: itsState},
		{words: NodeTaints + "memory-pressure", meaning: "too little free memory (memory pressure)", helps: itsState},
		{words: NodeTaints + "pid-pressure", meaning: "too many processes (PID pressure)", helps: itsState},
		{words: NodeTaints + "unreachable", meaning: "been unreachable", helps: itsState},
		{words: NodeTaints + "not-ready", meaning: "not been ready", helps: itsState},
		{words: NodeTaints + "network-unavailable", meaning: "no network yet", helps: itsState},
		{words: NodeTaints, meaning: "a taint for its state", helps: itsState},
		{words: "node.cloudprovider.kubernetes.io/", meaning: "not been set up by the cloud provider yet", helps: itsState},
		{words: "ToBeDeletedByClusterAutoscaler", meaning: "been about to be removed", helps: itsState},
		{words: "node-role.kubernetes.io/", meaning: "a taint: reserved for the control plane"},
		{
			words: "taint {", meaning: "a taint: reserved for other pods",
			helps: "If the pod may run there, tolerate the taint in {spec} (\"tolerations\"); otherwise add a node.",
		},
		{ // Kubernetes says no more since 1.34.
			words: " taint", meaning: "a taint that the pod does not tolerate",
			helps: "`kubectl describe nodes` shows the taints. One that begins with node.kubernetes.io/ is a state of the node, and goes with it; another one reserves the node for pods that tolerate it.",
		},
		{words: "no nodes available", helps: "The cluster has no nodes that could be asked: `kubectl get nodes`."},
	}
}

const (
	nodeCount pattern.Expr = `^0/(\d+) nodes: (.*)`
	counted   pattern.Expr = `^(\d+) (.*)`
)

// placementText makes sentences of "0/3 nodes: 2 Insufficient cpu, 1 node(s) had …", and
// says what helps against it.
func placementText(c v1.Cause, a About) string {
	message, added, growing := strings.Cut(c.Message, NodeIsAdded)
	if WaitsForVolume(message) {
		return "The pod is waiting for its volume to be provisioned. If this persists, `kubectl describe pvc" + a.option() +
			"` says why."
	}
	all, reasons := "", message
	if m := nodeCount.FindStringSubmatch(message); m != nil {
		all, reasons = m[1], m[2]
	}
	found := obstaclesIn(reasons)
	var parts []string
	asks := false
	for _, o := range found {
		asks = asks || o.asks
		if o.nodes != "" {
			parts = append(parts, o.text(all == "1"))
		}
	}
	helps := remedies(found)
	text := "No node can take the pod."
	switch {
	case len(parts) > 0 && all == "1":
		text = "The cluster's only node " + strings.Join(parts, " and ") + "."
	case len(parts) > 0:
		text = "Of " + all + " nodes, " + strings.Join(parts, ", ") + "."
	}
	if asks && a.Requests != "" {
		text += " It asks for " + a.Requests + "."
	}
	switch {
	case growing && !strings.Contains(added, "did not pass within"):
		return text + " A node is being added, which takes a few minutes."
	case len(helps) == 0:
		return text + " `kubectl describe nodes` shows what there is, and `kubectl describe " + c.Object + a.option() +
			"` what the pod asks for."
	}
	return text + " " + strings.NewReplacer(
		"{requests-field}", a.field(v1.Cause{}, "resources", "resources.requests"), "{spec}", a.spec(), "{ns}", a.option(),
	).Replace(strings.Join(helps[:min(mostRemedies, len(helps))], " "))
}

// mostRemedies is how many are named.
const mostRemedies = 2

// found is an obstacle and of how many nodes it is.
type found struct {
	obstacle
	rank  int
	nodes string // empty for all
}

// text is "2 have too little memory left".
func (f found) text(only bool) string {
	switch {
	case only:
		return "has " + f.meaning
	case f.nodes == "1":
		return "1 has " + f.meaning
	}
	return f.nodes + " have " + f.meaning
}

// obstaclesIn reads the reasons of the scheduler.
func obstaclesIn(reasons string) (all []found) {
	for reason := range strings.SplitSeq(reasons, ", ") {
		nodes := ""
		if m := counted.FindStringSubmatch(reason); m != nil {
			nodes, reason = m[1], m[2]
		}
		rank := slices.IndexFunc(obstacles(), func(o obstacle) bool { return strings.Contains(reason, o.words) })
		if rank < 0 {
			continue
		}
		o := obstacles()[rank]
		_, resource, _ := strings.Cut(reason, "Insufficient ")
		o.meaning = strings.ReplaceAll(o.meaning, "{resource}", resource)
		o.helps = strings.ReplaceAll(o.helps, "{resource}", resource)
		all = append(all, found{obstacle: o, rank: rank, nodes: nodes})
	}
	return all
}

// remedies are what helps, the best first, each once.
func remedies(all []found) (helps []string) {
	for _, o := range slices.SortedStableFunc(slices.Values(all), func(a, b found) int { return a.rank - b.rank }) {
		if o.helps != "" && !slices.Contains(helps, o.helps) {
			helps = append(helps, o.helps)
		}
	}
	return helps
}

const scheduler pattern.Expr = `scheduler (\S+) has`

// silenceText names what should have answered.
func silenceText(c v1.Cause, a About) string {
	name := ""
	if m := scheduler.FindStringSubmatch(c.Message); m != nil {
		name = m[1]
	}
	if name == "" || name == corev1.DefaultSchedulerName {
		return "The cluster's scheduler does not seem to run, or has too much to do: ask your cluster administrator (`kubectl get pods --namespace kube-system --selector component=kube-scheduler`)."
	}
	return fmt.Sprintf("No scheduler of the name %s seems to run in the cluster, and no other one takes the pod. Start it, or correct \"schedulerName\" in %s. %s", name, a.spec(), a.updated())
}
