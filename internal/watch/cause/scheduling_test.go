package cause

import (
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func TestUnscheduled(t *testing.T) {
	condition := func(reason, message string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = append(pod.Status.Conditions,
				corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message})
		}
	}
	const noCPU = "0/3 nodes are available: 3 Insufficient cpu. preemption: none"
	event := warning("", "FailedScheduling", noCPU)
	gated := func(pod *corev1.Pod) {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/quota"}, {Name: "example.com/go"}}
	}
	grows := watchtest.Event("web", "1", "", "TriggeredScaleUp", "pool 1->2").Event
	for name, test := range map[string]struct {
		pod     watchtest.MadePod
		events  []*corev1.Event
		message string
		want    string
	}{
		"nothing is known": {watchtest.NewPod("web", "1"), nil, "", ""},
		"by the condition": {
			watchtest.NewPod("web", "1", condition("Unschedulable", noCPU)), nil,
			"0/3 nodes: 3 Insufficient cpu", "Unschedulable: 0/3 nodes: 3 Insufficient cpu",
		},
		"by the event before it": {
			watchtest.NewPod("web", "1"),
			[]*corev1.Event{event},
			"",
			"Unschedulable: 0/3 nodes: 3 Insufficient cpu",
		},
		"held back": {
			watchtest.NewPod("web", "1", condition("SchedulingGated", "blocked")), nil, "blocked",
			"SchedulingGated: blocked",
		},
		"held back by a gate": {
			watchtest.NewPod("web", "1", condition("SchedulingGated", "blocked"), gated), nil,
			"blocked", "SchedulingGated: by the scheduling gates example.com/quota, example.com/go",
		},
		"the scheduler failed": {
			watchtest.NewPod("web", "1", condition("SchedulerError", "etcd is gone")), nil,
			"etcd is gone", "SchedulerError: etcd is gone",
		},
		"by the event alone": {
			watchtest.NewPod("web", "1"),
			[]*corev1.Event{warning("", "FailedScheduling",
				`running PreBind plugin "VolumeBinding": binding volumes: context deadline exceeded`)},
			"", "SchedulerError: binding volumes",
		},
		"the claim is lost": {watchtest.NewPod("web", "1",
			condition("Unschedulable", `0/3 nodes are available: persistentvolumeclaim "x" bound to non-existent persistentvolume "pv". preemption: none`)), nil, `0/3 nodes: persistentvolumeclaim "x" bound to non-existent persistentvolume "pv"`, "ClaimLost: bound to non-existent"},
		"the claim is deleted": {watchtest.NewPod("web", "1",
			condition("Unschedulable", `0/3 nodes are available: persistentvolumeclaim "x" is being deleted. preemption: none`)), nil, `0/3 nodes: persistentvolumeclaim "x" is being deleted`, "ClaimTerminating: is being deleted"},
		"the claim is made soon": {watchtest.NewPod("web", "1",
			condition("Unschedulable", `waiting for ephemeral volume controller to create the persistentvolumeclaim "x"`)), nil, `waiting for ephemeral volume controller to create the persistentvolumeclaim "x"`, "VolumePending: waiting"},
		"no claim among the nodes": {watchtest.NewPod("web", "1",
			condition("Unschedulable", `0/3 nodes are available: persistentvolumeclaim "x" not found.`)), nil, `0/3 nodes: persistentvolumeclaim "x" not found`, "ClaimMissing"},
		"the claim does not exist": {watchtest.NewPod("web", "1",
			condition("Unschedulable", `persistentvolumeclaim "x" not found`)), nil, `persistentvolumeclaim "x" not found`, "ClaimMissing"},
		"a node is being added": {
			watchtest.NewPod("web", "1"),
			[]*corev1.Event{event, grows},
			"",
			"Unschedulable: 3 Insufficient cpu; a node is being added: pool 1->2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf(test.pod, test.events...)
			found := OfUnscheduled(pod)
			compare(t, found, test.want)
			if found != nil && found.Code == Unschedulable && found.Reason != "FailedScheduling" {
				t.Errorf("reason %q, want the one of the scheduler's events", found.Reason)
			}
			if got := SchedulerSays(pod); got != test.message {
				t.Errorf("the scheduler says %q, want %q", got, test.message)
			}
		})
	}
	// A node that is being added does not fail under fast, and under patient when it does not come.
	pod := podOf(watchtest.NewPod("web", "1"), event, grows)
	if got := Judge(pod, DefaultPolicy(), watchtest.After(time.Hour)); got.Failed != nil || !got.Next.IsZero() {
		t.Errorf("fast: %+v", got)
	}
	if got := Judge(pod, patient(), watchtest.After(time.Second)); got.Failed != nil || len(got.Graced) != 1 {
		t.Errorf("patient: %+v", got)
	}
	compare(t, Judge(pod, patient(), watchtest.After(time.Hour)).Failed, "Unschedulable: did not pass within 1m")
}

// Each obstacle has a remedy of its own; only requests are remedied by lower ones.
func TestSchedulingHints(t *testing.T) {
	says := func(message string) v1.Cause {
		return v1.Cause{Code: Unschedulable, Message: message, Object: "pod/web"}
	}
	checkHints(t, []hintTest{
		{
			"several nodes",
			says("0/4 nodes: 1 node(s) had untolerated taint {a: b}, 2 Insufficient memory, 1 node(s) were unschedulable"),
			About{Requests: "64Gi memory"},
			[]string{
				"Of 4 nodes, 1 has a taint", "2 have too little memory left", "1 has been closed", "asks for 64Gi memory",
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
			[]string{"No node can take the pod. `kubectl describe nodes` shows", "`kubectl describe pod/web --namespace shop`"},
		},
		{
			"of the only node", says("0/1 nodes: who knows"),
			About{},
			[]string{"No node can take the pod. `kubectl describe nodes` shows"},
		},
		{
			"another scheduler's words", says("pod group is not ready"),
			About{},
			[]string{"No node can take the pod. `kubectl describe nodes`"},
		},
		{
			"a node is added", says("0/1 nodes: 1 Insufficient cpu; a node is being added: pool 1->2"),
			About{Requests: "4 cpu"},
			[]string{"It asks for 4 cpu. A node is being added"},
		},
		{"it did not come", says("0/1 nodes: 1 Insufficient cpu; a node is being added: pool 1->2 (did not pass within 10m)"), About{}, []string{"left. Lower"}},
		{"a special resource", says("0/3 nodes: 1 node(s) had untolerated taint {node-role.kubernetes.io/control-plane: }, 2 Insufficient nvidia.com/gpu"), About{}, []string{"1 has a taint: reserved for the control plane, 2 have too little of nvidia.com/gpu left.", "Ask for less of nvidia.com/gpu"}},
		{
			"taints whose keys are not said", says("0/2 nodes: 2 node(s) had untolerated taint(s)"),
			About{},
			[]string{"2 have a taint that the pod does not tolerate", "`kubectl describe nodes` shows the taints"},
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
		"0/3 nodes: 3 node(s) didn't match pod topology spread constraints", "0/3 nodes: 3 node(s) exceed max volume count",
		"0/3 nodes: 3 cannot allocate all claims", "0/3 nodes: 3 node(s) had volume node affinity conflict",
		"0/3 nodes: 3 node(s) didn't find available persistent volumes to bind",
		"0/3 nodes: 3 node(s) didn't match pod anti-affinity rules", "0/3 nodes: 3 Too many pods",
		"0/3 nodes: 3 node(s) had untolerated taint(s)", "no nodes available to schedule pods", "who knows",
		"0/3 nodes: 2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s), 1 node(s) did not have enough free storage",
	} {
		hint := Hint(&v1.Cause{Code: Unschedulable, Message: message, Object: "pod/web"}, About{Requests: "64 cpu"})
		if strings.Contains(hint, "Lower") || strings.Contains(hint, "64 cpu") || strings.Contains(hint, "{") {
			t.Errorf("%s: %q", message, hint)
		}
	}
}

// A pod that no scheduler speaks of waits for none, unless it may have to wait for a volume first.
func TestSilentScheduler(t *testing.T) {
	of := func(name string) func(*corev1.Pod) { return func(pod *corev1.Pod) { pod.Spec.SchedulerName = name } }
	compare(t, OfSilentScheduler(podOf(watchtest.NewPod("web", "1", of("batch")))),
		"SchedulerSilent: scheduler batch has said nothing")
	usual := OfSilentScheduler(podOf(watchtest.NewPod("web", "1")))
	compare(t, usual, "SchedulerSilent: scheduler default-scheduler has")
	if usual.NeedsPerson() {
		t.Error("the cluster's scheduler comes back by itself")
	}
	mounts := func(pod *corev1.Pod) {
		pod.Spec.Volumes = []corev1.Volume{{
			Name:         "data",
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}},
		}}
	}
	compare(t, OfSilentScheduler(podOf(watchtest.NewPod("web", "1", mounts))), "")
}

// No resources bind a volume.
func TestHintForAnUnboundClaim(t *testing.T) {
	unbound := v1.Cause{Code: Unschedulable, Message: "0/1 nodes: pod has unbound immediate PersistentVolumeClaims"}
	want := "The pod is waiting for its volume to be provisioned. If this persists, `kubectl describe pvc --namespace shop` says why."
	if hint := Hint(&unbound, About{Namespace: "shop", Blueprint: "dev", Requests: "1 cpu"}); hint != want {
		t.Errorf("%q, want %q", hint, want)
	}
}
