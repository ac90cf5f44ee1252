package evidence

import (
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func at(second int) metav1.Time { return metav1.Unix(1795218600+int64(second), 0) }

// What a hook does, in short.
func TestHookOf(t *testing.T) {
	port := intstr.FromInt32(8080)
	for want, h := range map[string]*corev1.LifecycleHandler{
		"": nil, "`sh -c setup`": {Exec: &corev1.ExecAction{Command: []string{"sh", "-c", " setup\n"}}},
		"GET /ready on port 8080":   {HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: port}},
		"GET / on port 8080":        {HTTPGet: &corev1.HTTPGetAction{Port: port}},
		"a connection to port 8080": {TCPSocket: &corev1.TCPSocketAction{Port: port}},
		"a sleep of 7 s":            {Sleep: &corev1.SleepAction{Seconds: 7}},
	} {
		if got := hookOf(h); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := hookOf(&corev1.LifecycleHandler{}); got != "" {
		t.Errorf("one that does nothing: %q", got)
	}
}

// The claims that a pod mounts: those that it names, and those that are made for it.
func TestClaimNames(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: corev1.PodSpec{Volumes: []corev1.Volume{
		{
			Name: "data",
			VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "of-web"},
			},
		},
		{Name: "tmp", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
		{Name: "build", VolumeSource: corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}},
	}}}
	if got := ClaimNames(pod); !slices.Equal(got, []string{"of-web", "web-build"}) {
		t.Errorf("%q", got)
	}
}

// What the status of a container says: whether it waits, ended, holds others up, and since when not.
func TestStatusOfAContainer(t *testing.T) {
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(3)}}
	ended := func(code int32) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: at(5)}}
	}
	waiting := corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
		Reason:  "CrashLoopBackOff",
		Message: "back-off",
	}}
	for name, c := range map[string]struct {
		container   Container
		waits       bool
		reason      string
		ended       bool
		initialized bool
		since       time.Time
		ready       bool
	}{
		"nothing yet": {Container{}, true, "", false, false, time.Time{}, false},
		"waits": {
			Container{Status: corev1.ContainerStatus{State: waiting}},
			true, "CrashLoopBackOff",
			false, false,
			time.Time{},
			false,
		},
		"waits to be restarted": {Container{Status: corev1.ContainerStatus{
			State:                waiting,
			LastTerminationState: ended(1),
		}}, true, "CrashLoopBackOff", true, false, time.Time{}, false},
		"runs": {
			Container{Status: corev1.ContainerStatus{State: running}},
			false, "", false, false,
			at(3).Time, false,
		},
		"is ready": {
			Container{Status: corev1.ContainerStatus{State: running, Ready: true}},
			false, "",
			false, false, at(3).Time, true,
		},
		"was ready": {
			Container{Status: corev1.ContainerStatus{State: ended(0), Ready: true}},
			false, "",
			true, true, at(5).Time, false,
		},
		"failed": {
			Container{Status: corev1.ContainerStatus{State: ended(1)}},
			false, "", true, false,
			at(5).Time, false,
		},
		"a sidecar that runs": {
			Container{Sidecar: true, Status: corev1.ContainerStatus{State: running}},
			false, "",
			false, false, at(3).Time, false,
		},
		"a sidecar that has not": {Container{
			Sidecar: true,
			Status:  corev1.ContainerStatus{State: running, Started: new(false)},
		}, false, "", false, false, at(3).Time, false},
		"a sidecar that started": {Container{
			Sidecar: true,
			Status:  corev1.ContainerStatus{State: running, Started: new(true)},
		}, false, "", false, true, at(3).Time, false},
		"a sidecar that has failed": {
			Container{Sidecar: true, Status: corev1.ContainerStatus{State: ended(0)}},
			false, "",
			true, false, at(5).Time, false,
		},
	} {
		reason, message, waits := c.container.Waiting()
		if reason != c.reason || waits != c.waits || (message == "back-off") != (reason != "") ||
			(c.container.Ended() != nil) != c.ended {
			t.Errorf("%s: waits: %q, %q, %t; ended: %v", name, reason, message, waits, c.container.Ended())
		}
		if got := c.container.IsInitialized(); got != c.initialized || !c.container.InitializedAt().Equal(c.since) ||
			c.container.IsReady() != c.ready {
			t.Errorf("%s: initialized: %t at %s, ready: %t", name, got, c.container.InitializedAt(),
				c.container.IsReady())
		}
	}
}

// A container is restarted as its own policy says, or else as the pod's.
func TestRestarts(t *testing.T) {
	always, never, onFailure := corev1.ContainerRestartPolicyAlways, corev1.ContainerRestartPolicyNever,
		corev1.ContainerRestartPolicyOnFailure
	rules := []corev1.ContainerRestartRule{{Action: corev1.ContainerRestartRuleActionRestart}}
	for name, c := range map[string]struct {
		pod   corev1.RestartPolicy
		own   *corev1.ContainerRestartPolicy
		rules []corev1.ContainerRestartRule
		want  bool
	}{
		"the default": {"", nil, nil, true}, "always": {corev1.RestartPolicyAlways, nil, nil, true},
		"after a failure":        {corev1.RestartPolicyOnFailure, nil, nil, true},
		"never":                  {corev1.RestartPolicyNever, nil, nil, false},
		"itself always":          {corev1.RestartPolicyNever, &always, nil, true},
		"itself after a failure": {corev1.RestartPolicyNever, &onFailure, nil, true},
		"itself never":           {corev1.RestartPolicyAlways, &never, nil, false},
		"itself by rules":        {corev1.RestartPolicyNever, &never, rules, true},
	} {
		spec := corev1.Container{Name: "app", RestartPolicy: c.own, RestartPolicyRules: c.rules}
		for sidecar, pod := range map[bool]corev1.PodSpec{
			false: {Containers: []corev1.Container{spec}},
			true:  {InitContainers: []corev1.Container{spec}},
		} {
			pod.RestartPolicy = c.pod
			got := NewPod(&corev1.Pod{Spec: pod}, nil, nil).Containers[0]
			if got.Restarts != c.want || got.Init != sidecar || got.Sidecar != (sidecar && c.own == &always) {
				t.Errorf("%s: %+v", name, got)
			}
		}
	}
}

// A pod has made progress when anything of it came about, not when it was lost again.
func TestProgressedAt(t *testing.T) {
	condition := func(kind corev1.PodConditionType, status corev1.ConditionStatus) Pod {
		return Pod{Pod: &corev1.Pod{Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: kind, Status: status,
			LastTransitionTime: at(7),
		}}}}}
	}
	container := func(c Container) Pod { return Pod{Pod: &corev1.Pod{}, Containers: []Container{c}} }
	event := func(reason string, first, last int) Pod {
		return Pod{
			Pod:    &corev1.Pod{},
			Events: []*corev1.Event{{Reason: reason, FirstTimestamp: at(first), LastTimestamp: at(last)}},
		}
	}
	running := corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: at(7)}}
	ended := func(code int32) corev1.ContainerState {
		return corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{ExitCode: code, FinishedAt: at(7)}}
	}
	for name, c := range map[string]struct {
		pod  Pod
		want int
	}{
		"none":                     {Pod{Pod: &corev1.Pod{}}, 1},
		"scheduled":                {condition(corev1.PodScheduled, corev1.ConditionTrue), 7},
		"not scheduled":            {condition(corev1.PodScheduled, corev1.ConditionFalse), 1},
		"has a network":            {condition(corev1.PodReadyToStartContainers, corev1.ConditionTrue), 7},
		"initialized":              {condition(corev1.PodInitialized, corev1.ConditionTrue), 7},
		"its containers are ready": {condition(corev1.ContainersReady, corev1.ConditionTrue), 7},
		"ready by a gate":          {condition(corev1.PodReady, corev1.ConditionTrue), 1},
		"a container runs":         {container(Container{Status: corev1.ContainerStatus{State: running}}), 7},
		"a container runs again": {container(Container{Status: corev1.ContainerStatus{
			State:        running,
			RestartCount: 1,
		}}), 1},
		"an init container is done": {container(Container{
			Init:   true,
			Status: corev1.ContainerStatus{State: ended(0)},
		}), 7},
		"an init container has failed": {container(Container{
			Init:   true,
			Status: corev1.ContainerStatus{State: ended(1)},
		}), 1},
		"a container has ended":             {container(Container{Status: corev1.ContainerStatus{State: ended(0)}}), 1},
		"a node is to come":                 {event("TriggeredScaleUp", 5, 7), 7},
		"a node is to come, with Karpenter": {event("Nominated", 5, 7), 7},
		"an image has come":                 {event("Pulled", 5, 7), 5},
		"a volume has come":                 {event("SuccessfulAttachVolume", 5, 7), 5},
		"an event of the scheduler":         {event("Scheduled", 5, 7), 5},
		"an image is tried":                 {event("Pulling", 5, 7), 1},
	} {
		c.pod.CreationTimestamp = at(1)
		if got := c.pod.ProgressedAt(); !got.Equal(at(c.want).Time) {
			t.Errorf("%s: at %s, want %s", name, got, at(c.want).Time)
		}
	}
}

// The status was changed when somebody wrote it, not what else there is of a pod.
func TestStatusChangedAt(t *testing.T) {
	p := Pod{Pod: &corev1.Pod{}}
	if got := p.StatusChangedAt(); !got.IsZero() {
		t.Error(got)
	}
	p.ManagedFields = []metav1.ManagedFieldsEntry{
		{Subresource: "status", Time: new(at(3))},
		{Subresource: "status", Time: new(at(5))},
		{Subresource: "status", Time: new(at(4))},
		{Subresource: "status"},
		{Time: new(at(9))},
		{Subresource: "scale", Time: new(at(9))},
	}
	if got := p.StatusChangedAt(); !got.Equal(at(5).Time) {
		t.Error(got)
	}
}

// karpenterFails is Karpenter's FailedScheduling, which is not the scheduler's.
const karpenterFails = "FailedScheduling of karpenter"

// A node is on its way until the autoscaler changes its mind.
func TestGrowing(t *testing.T) {
	for name, c := range map[string]struct {
		reasons []string
		want    string
	}{
		"no":                  {[]string{"FailedScheduling"}, ""},
		"yes":                 {[]string{"NotTriggerScaleUp", "TriggeredScaleUp"}, "TriggeredScaleUp"},
		"with Karpenter":      {[]string{"Nominated"}, "Nominated"},
		"not any more":        {[]string{"TriggeredScaleUp", "NotTriggerScaleUp"}, ""},
		"no pool has it":      {[]string{"Nominated", karpenterFails}, ""},
		"a pool has it":       {[]string{karpenterFails, "Nominated", "FailedScheduling"}, "Nominated"},
		"a third node":        {[]string{"Nominated 1", "Nominated 2", "Nominated 3"}, "Nominated"},
		"one after the other": {[]string{"Nominated 1", "Nominated 2", "Nominated 3", "Nominated 4"}, ""},
	} {
		p := Pod{Pod: &corev1.Pod{}}
		for _, reason := range c.reasons {
			e := &corev1.Event{Reason: reason}
			if node, is := strings.CutPrefix(reason, "Nominated "); is {
				e.Reason, e.Message = "Nominated", "Pod should schedule on: nodeclaim/"+node
			}
			if reason == karpenterFails {
				e.Reason, e.Source.Component, e.Message = "FailedScheduling", "karpenter", "incompatible with nodepool"
			}
			p.Events = append(p.Events, e)
		}
		if e := p.Growing(); (e != nil) != (c.want != "") || e != nil && e.Reason != c.want {
			t.Errorf("%s: %v", name, e)
		}
	}
}

// The condition of a node is that which says whether it is ready.
func TestNodeReady(t *testing.T) {
	ready := corev1.NodeCondition{Type: corev1.NodeReady, Reason: "it"}
	with := func(conditions ...corev1.NodeCondition) *corev1.Node {
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: conditions}}
	}
	pressure := corev1.NodeCondition{Type: corev1.NodeDiskPressure}
	for name, c := range map[string]struct {
		node *corev1.Node
		want bool
	}{
		"no node":      {nil, false},
		"no condition": {with(pressure), false},
		"one":          {with(pressure, ready), true},
	} {
		if got := (Node{Node: c.node}).Ready(); (got != nil) != c.want || got != nil && got.Reason != "it" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
