package cause

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func TestUnscheduled(t *testing.T) {
	condition := func(reason, message string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason, Message: message})
		}
	}
	const noCPU = "0/3 nodes are available: 3 Insufficient cpu. preemption: none"
	event := warning("", "FailedScheduling", noCPU)
	grows := watchtest.Event("web", "1", "", "TriggeredScaleUp", "pool 1->2").Event
	for name, test := range map[string]struct {
		pod     watchtest.MadePod
		events  []*corev1.Event
		message string
		want    string
	}{
		"nothing is known":         {watchtest.NewPod("web", "1"), nil, "", ""},
		"by the condition":         {watchtest.NewPod("web", "1", condition("Unschedulable", noCPU)), nil, "0/3 nodes: 3 Insufficient cpu", "Unschedulable: 0/3 nodes: 3 Insufficient cpu"},
		"by the event before it":   {watchtest.NewPod("web", "1"), []*corev1.Event{event}, "", "Unschedulable: 0/3 nodes: 3 Insufficient cpu"},
		"held back":                {watchtest.NewPod("web", "1", condition("SchedulingGated", "blocked")), nil, "blocked", "SchedulingGated"},
		"the claim does not exist": {watchtest.NewPod("web", "1", condition("Unschedulable", `persistentvolumeclaim "x" not found`)), nil, `persistentvolumeclaim "x" not found`, "ClaimMissing"},
		"a node is being added":    {watchtest.NewPod("web", "1"), []*corev1.Event{event, grows}, "", "Unschedulable: 3 Insufficient cpu; a node is being added: pool 1->2"},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf(test.pod, test.events...)
			compare(t, OfUnscheduled(pod), test.want)
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

func TestSchedulingHints(t *testing.T) {
	checkHints(t, []hintTest{
		{
			"several nodes",
			v1.Cause{Code: Unschedulable, Message: "0/4 nodes: 1 node(s) had untolerated taint {a: b}, 2 Insufficient memory, 1 node(s) were unschedulable"},
			About{Requests: "64Gi memory"},
			[]string{"Of 4 nodes, 1 has a taint", "2 have too little memory left", "1 has been closed", "asks for 64Gi memory"},
		},
		{"the only node", v1.Cause{Code: Unschedulable, Message: "0/1 nodes: 1 Insufficient cpu"}, About{}, []string{"The cluster's only node has too little cpu left."}},
		{"an unknown reason", v1.Cause{Code: Unschedulable, Message: "0/4 nodes: who knows"}, About{}, []string{"No node can take the pod."}},
	})
}

// No resources bind a volume.
func TestHintForAnUnboundClaim(t *testing.T) {
	unbound := v1.Cause{Code: Unschedulable, Message: "0/1 nodes: pod has unbound immediate PersistentVolumeClaims"}
	want := "The pod is waiting for its volume to be provisioned. If this persists, `kubectl describe pvc --namespace shop` says why."
	if hint := Hint(&unbound, About{Namespace: "shop", Blueprint: "dev", Requests: "1 cpu"}); hint != want {
		t.Errorf("%q, want %q", hint, want)
	}
}
