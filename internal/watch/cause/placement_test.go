package cause

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
)

// Each obstacle has a remedy of its own; only requests are remedied by lower ones.
func TestSchedulingHints(t *testing.T) {
	says := func(message string) v1.Cause {
		return v1.Cause{Code: Unschedulable, Message: message, Object: "pod/web"}
	}
	checkHints(t, []hintTest{
		{
			"several nodes",
			says("0/4 nodes: 1 node(s) had untolerated taint {a: b}, 2 Insufficient memory, 1 node(s) " +
				"were unschedulable"),
			About{Requests: "64Gi memory"},
			[]string{
				"Of 4 nodes, 1 has been reserved for other pods (a taint)", "2 have too little memory left",
				"1 has been closed",
				"asks for 64Gi memory",
				`. Lower "resources.requests" in the pod's spec`, "`kubectl uncordon NODE`",
			},
		},
		{
			"the only node", says("0/1 nodes: 1 Insufficient cpu"),
			About{},
			[]string{"The cluster's only node has too little cpu left. Lower"},
		},
		{
			"an unknown reason", says("0/4 nodes: who knows"),
			About{Namespace: "shop"},
			[]string{
				"No node can take the pod. `kubectl describe nodes` shows",
				"`kubectl describe pod/web --namespace shop`",
			},
		},
		{
			"of the only node", says("0/1 nodes: who knows"),
			About{},
			[]string{"No node can take the pod. `kubectl describe nodes` shows"},
		},
		{
			"another scheduler's words", says("rejected by plugin Coscheduling"),
			About{},
			[]string{"No node can take the pod. `kubectl describe nodes`"},
		},
		{
			"a group that starts together", says("pod group is not ready, 1 Pending, 3 minAvailable"),
			About{Namespace: "ml"},
			[]string{"start together, or not at all: `kubectl describe podgroups --namespace ml`"},
		},
		{
			"its own node", says("0/5 nodes: 1 Insufficient memory, 4 node(s) didn't match Pod's node " +
				"affinity/selector"),
			About{OwnNode: "node-3"},
			[]string{"The pod is for node node-3 alone, which has too little memory left. Lower"},
		},
		{
			"a node is not added", says("0/1 nodes: 1 Insufficient cpu; no node is added: Node scale up failed: " +
				"out of resources"),
			About{},
			[]string{"has too little cpu left. The autoscaler has tried to add a node, and failed.", "Lower"},
		},
		{
			"a node is added", says("0/1 nodes: 1 Insufficient cpu; a node is being added: pool 1->2"),
			About{Requests: "4 cpu"},
			[]string{"The pod asks for 4 cpu. A node is being added"},
		},
		{"it did not come", says("0/1 nodes: 1 Insufficient cpu; a node is being added: pool 1->2 (did not " +
			"pass within 10m)"), About{}, []string{"left. Lower"}},
		{
			"a special resource", says("0/3 nodes: 1 node(s) had untolerated taint " +
				"{node-role.kubernetes.io/control-plane: }, 2 Insufficient nvidia.com/gpu"),
			About{},
			[]string{
				"1 has been reserved for the control plane, 2 have too little of nvidia.com/gpu left.",
				"Ask for less of nvidia.com/gpu",
			},
		},
		{
			"taints whose keys are not said", says("0/2 nodes: 2 node(s) had untolerated taint(s)"),
			About{},
			[]string{
				"Both nodes have a taint that the pod does not tolerate",
				"`kubectl describe nodes` shows the taints",
			},
		},
		{
			"a workspace's labels", says("0/2 nodes: 2 node(s) didn't match Pod's node affinity/selector"),
			About{Blueprint: "dev"},
			[]string{`"nodeSelector" or "affinity" in blueprint dev`},
		},
		{"no nodes", says("no nodes available to schedule pods"), About{}, []string{"`kubectl get nodes`"}},
		{
			"its own scheduler",
			v1.Cause{Code: SchedulerSilent, Message: "scheduler batch has said nothing about the pod"},
			About{},
			[]string{"No scheduler of the name batch", `"schedulerName" in the pod's spec`},
		},
		{"the default scheduler", v1.Cause{
			Code:    SchedulerSilent,
			Message: "scheduler default-scheduler has said nothing about the pod",
		}, About{}, []string{"The cluster's scheduler does not seem to run"}},
	})
}

// What has nothing to do with requests is not remedied by lower ones.
func TestLowerRequestsOnlyWhereTheyAreTheReason(t *testing.T) {
	for _, message := range []string{
		`0/3 nodes: persistentvolumeclaim "x" not found`, "0/3 nodes: 3 node(s) were unschedulable",
		"0/3 nodes: 3 node(s) had untolerated taint {node.kubernetes.io/disk-pressure: }",
		"0/3 nodes: 3 node(s) had untolerated taint {node.kubernetes.io/unreachable: }",
		"0/3 nodes: 3 node(s) had untolerated taint {node.kubernetes.io/not-ready: }",
		"0/3 nodes: 3 node(s) didn't have free ports for the requested pod ports",
		"0/3 nodes: 3 node(s) didn't match pod topology spread constraints",
		"0/3 nodes: 3 node(s) exceed max volume count",
		"0/3 nodes: 3 cannot allocate all claims", "0/3 nodes: 3 node(s) had volume node affinity conflict",
		"0/3 nodes: 3 node(s) didn't find available persistent volumes to bind",
		"0/3 nodes: 3 node(s) didn't match pod anti-affinity rules", "0/3 nodes: 3 Too many pods",
		"0/3 nodes: 3 node(s) had untolerated taint(s)", "no nodes available to schedule pods", "who knows",
		"0/3 nodes: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s), 1 node(s) did not " +
			"have enough free storage",
	} {
		hint := Hint(&v1.Cause{Code: Unschedulable, Message: message, Object: "pod/web"}, About{Requests: "64 cpu"})
		if strings.Contains(hint, "Lower") || strings.Contains(hint, "64 cpu") || strings.Contains(hint, "{") {
			t.Errorf("%s: %q", message, hint)
		}
	}
}

// No resources bind a volume.
func TestHintForAnUnboundClaim(t *testing.T) {
	unbound := v1.Cause{Code: Unschedulable, Message: "0/1 nodes: pod has unbound immediate PersistentVolumeClaims"}
	want := "The pod is waiting for its volume to be provisioned. If this persists, `kubectl describe pvc " +
		"--namespace shop` says why."
	if hint := Hint(&unbound, About{Namespace: "shop", Blueprint: "dev", Requests: "1 cpu"}); hint != want {
		t.Errorf("%q, want %q", hint, want)
	}
}
