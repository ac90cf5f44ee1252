package cause

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/pattern"
)

// obstacle is something that keeps nodes from taking a pod. See obstacles.yaml for the fields.
type obstacle struct {
	Words, Meaning, Helps, Begins string
	Asks                          bool
}

//go:embed obstacles.yaml
var obstaclesText []byte

// obstacles are those that are known. The file is part of the program: what is wrong with it is found by a test.
//
//nolint:gochecknoglobals // what was decoded: the same for everybody
var obstacles = sync.OnceValue(func() (all []obstacle) {
	decoder := yaml.NewDecoder(bytes.NewReader(obstaclesText))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		panic(fmt.Sprintf("obstacles.yaml: %v", err))
	}
	return all
})

const (
	nodeCount pattern.Expr = `^0/(\d+) nodes: (.*)`
	counted   pattern.Expr = `^(\d+) (.*)`
)

// placementText makes sentences of "0/3 nodes: 2 Insufficient cpu, 1 node(s) had …", and
// says what helps against it.
func placementText(c v1.Cause, a About) string {
	message, added, growing := strings.Cut(c.Message, NodeIsAdded)
	message, why, tried := strings.Cut(message, NodeNotAdded)
	if WaitsForVolume(message) {
		return "The pod is waiting for its volume to be provisioned. If this persists, `kubectl describe pvc" +
			a.option() +
			"` says why."
	}
	all, reasons := "", message
	if m := nodeCount.FindStringSubmatch(message); m != nil {
		all, reasons = m[1], m[2]
	}
	found := obstaclesIn(reasons)
	if a.OwnNode != "" { // that all others do not fit is as it should be
		all, found = "1", slices.DeleteFunc(found, isOfOthers)
	}
	var parts []string
	asks := false
	for _, o := range found {
		asks = asks || o.Asks
		if o.nodes != "" {
			parts = append(parts, o.text(all == "1"))
		}
	}
	helps := remedies(found)
	text := lacking(all, parts, len(found) == 1 && found[0].nodes == all, a)
	if len(parts) == 0 && len(found) > 0 {
		text = cmp.Or(found[0].Begins, text)
	}
	if asks && a.Requests != "" {
		text += " The pod asks for " + a.Requests + "."
	}
	if growing && !strings.Contains(added, "did not pass within") {
		return text + " A node is being added, which takes a few minutes."
	}
	if tried {
		text += " " + notAdded(why)
	}
	if len(helps) == 0 {
		return text + " `kubectl describe nodes` shows what there is, and `kubectl describe " + c.Object + a.option() +
			"` what the pod asks for."
	}
	if a.OwnNode != "" && asks { // another node is of no use to it
		return text + a.fill(" Lower {requests-field}, or make room there (`kubectl describe node "+a.OwnNode+"`).", c)
	}
	return text + " " + a.fill(strings.Join(helps[:min(mostRemedies, len(helps))], " "), c)
}

// isOfOthers is true for what keeps a pod off the nodes that it is not for.
func isOfOthers(f found) bool { return strings.HasPrefix(f.Words, "node affinity") }

// notAdded says why the autoscaler has added no node, by its words.
func notAdded(why string) string {
	switch {
	case strings.Contains(why, "nominated"):
		return "The autoscaler has named new nodes for the pod, and none came: `kubectl describe nodeclaims` says why."
	case strings.Contains(why, "nodepool"), strings.Contains(why, "provisioner"):
		return "Karpenter adds no node: its node pools allow none that takes the pod, and the message says why " +
			"(`kubectl describe nodepools`)."
	case strings.Contains(why, "max "):
		return "The autoscaler adds no node, as the node group or the cluster is as large as it may become: have " +
			"that limit raised."
	}
	return "The autoscaler has tried to add a node, and failed. It tries again after some minutes; if that " +
		"does not help, the cloud may be out of such machines, or a quota is reached."
}

// lacking says what the nodes have that keeps them from taking the pod.
func lacking(all string, parts []string, each bool, a About) string {
	switch {
	case len(parts) == 0:
		return "No node can take the pod."
	case a.OwnNode != "":
		return "The pod is for node " + a.OwnNode + " alone, which " + strings.Join(parts, " and ") + "."
	case all == "1":
		return "The cluster's only node " + strings.Join(parts, " and ") + "."
	}
	if each {
		number, what, _ := strings.Cut(parts[0], " ")
		return either(number == "2", "Both", "All "+number) + " nodes " + what + "."
	}
	return "Of " + all + " nodes, " + strings.Join(parts, ", ") + "."
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
		return "has " + f.Meaning
	case f.nodes == "1":
		return "1 has " + f.Meaning
	}
	return f.nodes + " have " + f.Meaning
}

// obstaclesIn reads the reasons of the scheduler.
func obstaclesIn(reasons string) (all []found) {
	for reason := range strings.SplitSeq(reasons, ", ") {
		nodes := ""
		if m := counted.FindStringSubmatch(reason); m != nil {
			nodes, reason = m[1], m[2]
		}
		rank := slices.IndexFunc(obstacles(), func(o obstacle) bool { return strings.Contains(reason, o.Words) })
		if rank < 0 {
			continue
		}
		o := obstacles()[rank]
		_, resource, _ := strings.Cut(reason, "Insufficient ")
		o.Meaning = strings.ReplaceAll(o.Meaning, "{resource}", resource)
		o.Helps = strings.ReplaceAll(o.Helps, "{resource}", resource)
		all = append(all, found{obstacle: o, rank: rank, nodes: nodes})
	}
	return all
}

// remedies are what helps, the best first, each once.
func remedies(all []found) (helps []string) {
	for _, o := range slices.SortedStableFunc(slices.Values(all), func(a, b found) int { return a.rank - b.rank }) {
		if o.Helps != "" && !slices.Contains(helps, o.Helps) {
			helps = append(helps, o.Helps)
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
		return "The cluster's scheduler does not seem to run, or has too much to do: ask your cluster administrator " +
			"(`kubectl get pods --namespace kube-system --selector component=kube-scheduler`)."
	}
	return fmt.Sprintf("No scheduler of the name %s seems to run in the cluster, and no other one takes the pod. "+
		"Start it, or correct \"schedulerName\" in %s. %s", name, a.spec(), a.updated())
}
