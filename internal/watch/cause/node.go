package cause

import (
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/pattern"
)

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

// No blueprint has a priority, chooses nodes or limits how long a pod runs: of a workspace, the
// cluster has added that to its pod.

func morePriority(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return "If that happens again, ask your cluster administrator for a node more, or a higher priority for workspaces."
	}
	return "Ask for a higher priorityClassName, or add a node."
}

func misfit(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return "The node's labels have changed, and do not fit what the pod asks for."
	}
	return "The node's labels no longer fit what " + a.spec() + " asks for."
}

func tooLong(_ v1.Cause, a About) string {
	if a.isWorkspace() {
		return a.back() + " It ran for longer than activeDeadlineSeconds permits, which the cluster has added to its pod: ask your cluster administrator."
	}
	return "It ran for longer than activeDeadlineSeconds permits. Raise that in " + a.spec() + ". " + a.again()
}
