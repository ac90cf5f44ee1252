package diagnose

import (
	"regexp"
	"strconv"
	"strings"
)

// scheduled are the scheduler's usual reasons, and what they mean.
func scheduled() []struct{ words, meaning string } {
	return []struct{ words, meaning string }{
		{"Insufficient cpu", "too little cpu left"},
		{"Insufficient memory", "too little memory left"},
		{"Insufficient ephemeral-storage", "too little disk left"},
		{"Insufficient ", "too few of a special resource left"},
		{"Too many pods", "as many pods as they take"},
		{"untolerated taint", "a taint: they are reserved for other pods"},
		{"didn't match Pod's node affinity/selector", "other labels than nodeSelector or affinity ask for"},
		{"didn't match pod anti-affinity", "a pod already that this one must not be beside"},
		{"didn't match pod topology spread", "more than their share of such pods"},
		{"were unschedulable", "been closed for new pods (cordoned)"},
		{"didn't have free ports", "the host port taken"},
		{"volume node affinity conflict", "no access to the pod's volume"},
		{"had no available volume zone", "no access to the pod's volume"},
	}
}

var nodeCount = regexp.MustCompile(`^0/(\d+) nodes: (.*)`)

// nodesText makes sentences of "0/3 nodes: 2 Insufficient cpu, 1 node(s) had …".
func nodesText(message, requests string) string {
	asks := ""
	if requests != "" {
		asks = " It asks for " + requests + "."
	}
	m := nodeCount.FindStringSubmatch(message)
	if m == nil {
		return "No node can take the pod." + asks
	}
	if waitsForVolume(m[2]) {
		return "The pod waits for its volume to be made."
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

// roomText says how the pod gets a node: no resources bind a volume.
func roomText(message string, about About) string {
	if waitsForVolume(message) {
		return "If that does not end, `kubectl describe pvc" + about.option() + "` says why."
	}
	return "Lower " + about.field(nil, "resources", "resources.requests") +
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
	for _, s := range scheduled() {
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
