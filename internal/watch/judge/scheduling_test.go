package judge

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/berthdev/berth/internal/watch/cause"
	"github.com/berthdev/berth/internal/watch/detect"
	"github.com/berthdev/berth/internal/watch/watchtest"
)

func TestUnscheduled(t *testing.T) {
	condition := func(reason, message string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Status.Conditions = append(pod.Status.Conditions,
				corev1.PodCondition{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason,
					Message: message,
				})
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
			condition("Unschedulable", `0/3 nodes are available: persistentvolumeclaim "x" bound to non-existent `+
				`persistentvolume "pv". preemption: none`)), nil, `0/3 nodes: persistentvolumeclaim "x" bound to ` +
			`non-existent persistentvolume "pv"`, "ClaimLost: bound to non-existent"},
		"the claim is deleted": {
			watchtest.NewPod("web", "1",
				condition("Unschedulable", `0/3 nodes are available: persistentvolumeclaim "x" is being deleted. `+
					`preemption: none`)), nil, `0/3 nodes: persistentvolumeclaim "x" is being deleted`,
			"ClaimTerminating: is being deleted",
		},
		"the claim is made soon": {watchtest.NewPod("web", "1",
			condition("Unschedulable", `waiting for ephemeral volume controller to create the `+
				`persistentvolumeclaim "x"`)), nil, `waiting for ephemeral volume controller to create the ` +
			`persistentvolumeclaim "x"`, "VolumePending: waiting"},
		"no claim among the nodes": {
			watchtest.NewPod("web", "1",
				condition("Unschedulable", `0/3 nodes are available: persistentvolumeclaim "x" not found.`)), nil,
			`0/3 nodes: persistentvolumeclaim "x" not found`, "ClaimMissing",
		},
		"the claim does not exist": {
			watchtest.NewPod("web", "1",
				condition("Unschedulable", `persistentvolumeclaim "x" not found`)), nil,
			`persistentvolumeclaim "x" not found`, "ClaimMissing",
		},
		"a node is being added": {
			watchtest.NewPod("web", "1"),
			[]*corev1.Event{event, grows},
			"",
			"Unschedulable: 3 Insufficient cpu; a node is being added: pool 1->2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			pod := podOf(test.pod, test.events...)
			found := detect.Unscheduled(pod)
			compare(t, found, test.want)
			if found != nil && found.Code == cause.Unschedulable && found.Reason != "FailedScheduling" {
				t.Errorf("reason %q, want the one of the scheduler's events", found.Reason)
			}
			if got := detect.SchedulerSays(pod); got != test.message {
				t.Errorf("the scheduler says %q, want %q", got, test.message)
			}
		})
	}
	// A node that is being added does not fail under fast, and under patient when it does not come.
	pod := podOf(watchtest.NewPod("web", "1"), event, grows)
	if got := Pod(pod, cause.DefaultPolicy(), watchtest.After(time.Hour)); got.Failed != nil || !got.Next.IsZero() {
		t.Errorf("fast: %+v", got)
	}
	if got := Pod(pod, patient(), watchtest.After(time.Second)); got.Failed != nil || len(got.Graced) != 1 {
		t.Errorf("patient: %+v", got)
	}
	compare(t, Pod(pod, patient(), watchtest.After(time.Hour)).Failed, "Unschedulable: did not pass within 1m")
}
