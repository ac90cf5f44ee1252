package cause

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/berthdev/berth/api/v1"
)

// What a probe asks, and which one a message is about.
func TestProbe(t *testing.T) {
	port := intstr.FromInt32(80)
	of := func(handler corev1.ProbeHandler) *corev1.Probe { return &corev1.Probe{ProbeHandler: handler} }
	get := of(corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/ready", Port: intstr.FromString("web")}})
	tcp := of(corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{Port: port}})
	grpc := of(corev1.ProbeHandler{GRPC: &corev1.GRPCAction{Port: 81}})
	command := of(corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"cat", "/ready"}}})
	for name, c := range map[string]struct {
		readiness, startup, liveness *corev1.Probe
		message, want                string
	}{
		"none":                    {nil, nil, nil, "Readiness probe failed", ""},
		"readiness":               {get, tcp, grpc, "Readiness probe failed", "GET /ready on port web"},
		"startup":                 {get, tcp, grpc, "Startup probe failed", "a connection to port 80"},
		"liveness":                {get, tcp, grpc, "Liveness probe failed", "gRPC health on port 81"},
		"no message":              {command, tcp, grpc, "", "the command `cat /ready`"},
		"startup alone":           {nil, tcp, grpc, "", "a connection to port 80"},
		"no readiness":            {nil, nil, grpc, "", ""},
		"no startup in its place": {get, nil, grpc, "Startup probe failed", ""},
		"one that asks nothing":   {of(corev1.ProbeHandler{}), nil, nil, "", ""},
	} {
		if got := probe(corev1.Container{
			ReadinessProbe: c.readiness, StartupProbe: c.startup,
			LivenessProbe: c.liveness,
		},
			c.message); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A pod that may only be on one node names it in a field, as the pods of a DaemonSet do.
func TestOwnNode(t *testing.T) {
	field := func(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.PodSpec {
		return corev1.PodSpec{Affinity: &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchFields: []corev1.NodeSelectorRequirement{{Key: key, Operator: operator, Values: values}},
				}},
			},
		}}}
	}
	for name, c := range map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"of a DaemonSet":  {field("metadata.name", corev1.NodeSelectorOpIn, "node-1"), "node-1"},
		"one of two":      {field("metadata.name", corev1.NodeSelectorOpIn, "node-1", "node-2"), ""},
		"not on that one": {field("metadata.name", corev1.NodeSelectorOpNotIn, "node-1"), ""},
		"another field":   {field("spec.unschedulable", corev1.NodeSelectorOpIn, "false"), ""},
		"any":             {corev1.PodSpec{}, ""},
	} {
		if got := ownNode(c.spec); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What the specification says of a cause is that of its container, and what all of them ask for.
func TestAboutOf(t *testing.T) {
	quantities := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse(cpu),
			corev1.ResourceMemory: resource.MustParse(memory),
		}
	}
	spec := corev1.PodSpec{
		InitContainers: []corev1.Container{{
			Name: "init", Image: "init:1",
			Resources: corev1.ResourceRequirements{Requests: quantities("64", "64Gi")},
		}},
		Containers: []corev1.Container{
			{Name: "app", Image: "app:1", Resources: corev1.ResourceRequirements{
				Requests: quantities("500m", "1Gi"),
				Limits:   quantities("1", "2Gi"),
			}},
			{Name: "side", Image: "side:1", Resources: corev1.ResourceRequirements{Requests: quantities("250m",
				"1Gi")}},
		},
		Overhead: quantities("250m", "0"),
	}
	for name, c := range map[string]struct {
		cause *v1.Cause
		want  About
	}{
		"none":               {nil, About{Origin: "x"}},
		"of the pod":         {&v1.Cause{}, About{Origin: "x"}},
		"of a container":     {&v1.Cause{Container: "app"}, About{Origin: "x", Image: "app:1", Memory: "2Gi"}},
		"without a limit":    {&v1.Cause{Container: "side"}, About{Origin: "x", Image: "side:1"}},
		"of an init one":     {&v1.Cause{Container: "init"}, About{Origin: "x", Image: "init:1"}},
		"of one that is not": {&v1.Cause{Container: "gone"}, About{Origin: "x"}},
	} {
		c.want.Requests = "1 cpu and 2Gi memory"
		if got := (About{Origin: "x"}).Of(spec, c.cause); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
	if got := requests(corev1.PodSpec{}); got != "" {
		t.Errorf("of nothing: %q", got)
	}
}
