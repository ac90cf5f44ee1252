package doctor

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// plugins are the network plugins that run as a DaemonSet: a word of the name of
// it or of its images, and whether the plugin enforces network policies. The
// first that fits counts: Canal is Flannel with Calico's policies.
func plugins() []plugin {
	return []plugin{
		{"canal", "Canal", enforces},
		{"calico", "Calico", enforces},
		{"cilium", "Cilium", enforces},
		{"anetd", "GKE Dataplane V2", enforces},
		{"antrea", "Antrea", enforces},
		{"kube-router", "kube-router", enforces},
		{"kube-ovn", "Kube-OVN", enforces},
		{"ovnkube", "OVN-Kubernetes", enforces},
		{"weave", "Weave Net", enforces},
		{"kube-network-policies", "kube-network-policies", enforces},
		{"azure-npm", "Azure NPM", enforces},
		{"aws-network-policy-agent", "the VPC CNI with its policy agent", mayEnforce},
		{"aws-node", "the VPC CNI", ignores},
		{"kindnet", "kindnet", mayEnforce},
		{"flannel", "Flannel", ignores},
	}
}

type plugin struct {
	word, name string
	policies   policies
}

// policies is what a plugin does with network policies.
type policies int

const (
	ignores    policies = iota
	mayEnforce          // by its version or settings, which are not seen
	enforces
)

// NetworkPolicies judges whether anything enforces network policies. An API
// server takes them all the same, so this can only be guessed.
func NetworkPolicies(sets []appsv1.DaemonSet) Finding {
	var best *plugin
	where := ""
	for _, p := range plugins() {
		for i := range sets {
			if (best == nil || p.policies > best.policies) && runs(&sets[i], p.word) {
				best, where = &p, " (daemonset "+sets[i].Namespace+"/"+sets[i].Name+")"
			}
		}
	}
	const try = "; to verify, try to reach a forbidden address from a workspace of class isolated"
	switch {
	case best == nil:
		return Skipped("no known network plugin runs as a DaemonSet: cannot tell whether network policies are enforced" + try)
	case best.policies == mayEnforce:
		return Skipped(best.name + where +
			" enforces network policies if it is recent and configured to, which cannot be checked from here" + try)
	case best.policies == ignores:
		return Warning(best.name+where+" does not enforce network policies: those of blueprints have no effect",
			"ask your cluster administrator for a plugin that does, or do not rely on networkPolicyClass")
	}
	return OK(best.name + where + " enforces network policies")
}

func runs(set *appsv1.DaemonSet, word string) bool {
	if strings.Contains(set.Name, word) {
		return true
	}
	for _, c := range set.Spec.Template.Spec.Containers {
		if strings.Contains(c.Image, word) {
			return true
		}
	}
	return false
}
