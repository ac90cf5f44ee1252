package limit

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/berthdev/berth/internal/kube"
)

// A quota that a pod exceeds beside the one that it replaces is not in the way if the old
// one makes room.
func TestQuotaInPlaceOfThePod(t *testing.T) {
	container := corev1.Container{Resources: corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("1"),
			corev1.ResourceMemory: resource.MustParse("1Gi"),
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi")},
	}}
	old := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}}
	for text, want := range map[string][2]bool{
		"exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1": {
			true,
			true,
		},
		"exceeded quota: q, requested: pods=1, used: pods=3, limited: pods=2": {
			false,
			true,
		},
		"exceeded quota: q, requested: requests.cpu=1500m, used: requests.cpu=2, limited: requests.cpu=3": {
			true,
			true,
		},
		"exceeded quota: q, requested: cpu=2500m, used: cpu=2, limited: cpu=3": {
			false,
			true,
		},
		"exceeded quota: q, requested: limits.memory=2Gi, used: limits.memory=3Gi, limited: limits.memory=3Gi": {
			true,
			true,
		},
		"exceeded quota: q, requested: pods=1,requests.memory=2Gi, used: pods=1,requests.memory=1Gi, limited: " +
			"pods=1,requests.memory=1Gi": {false, true},
		"exceeded quota: q, requested: count/widgets=1, used: count/widgets=1, limited: count/widgets=1": {false, true},
		`violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false`:                    {},
		"exceeded quota: q": {},
	} {
		answer := apierrors.NewForbidden(corev1.Resource("pods"), "alice-1", errors.New(text))
		room, known := FitsAfterReplacing(kube.Fault(answer,
			kube.Call{Verb: "create", Resource: "pods", Namespace: "dev", Name: "alice-1"}), old)
		if room != want[0] || known != want[1] {
			t.Errorf("%s: %v, %v; want %v", text, room, known, want)
		}
		if room, _ := FitsAfterReplacing(kube.Fault(answer, kube.Call{Verb: "create", Resource: "services"}),
			old); room {
			t.Errorf("%s: of another object", text)
		}
	}
	if _, known := FitsAfterReplacing(nil, old); known {
		t.Error("no error is known")
	}
}

// As for the scheduler: a pod takes the sum of what runs beside each other, or the largest of
// what runs alone before, if that is more.
func TestUsage(t *testing.T) {
	container := func(cpu string, policy *corev1.ContainerRestartPolicy) corev1.Container {
		return corev1.Container{RestartPolicy: policy, Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}
	}
	sidecar := func(cpu string) corev1.Container {
		return container(cpu, new(corev1.ContainerRestartPolicyAlways))
	}
	for want, spec := range map[string]corev1.PodSpec{
		"3": {Containers: []corev1.Container{container("1", nil), container("2", nil)}},
		"4": {
			Containers:     []corev1.Container{container("1", nil)},
			InitContainers: []corev1.Container{sidecar("2"), sidecar("1")},
		},
		"2": {
			Containers:     []corev1.Container{container("2", nil)},
			InitContainers: []corev1.Container{container("1", nil), container("2", nil)},
		},
		"5": {
			Containers:     []corev1.Container{container("2", nil)},
			InitContainers: []corev1.Container{container("5", nil), container("1", nil)},
		},
		// What runs alone before runs beside the sidecars that have begun.
		"6": {
			Containers:     []corev1.Container{container("1", nil)},
			InitContainers: []corev1.Container{sidecar("2"), container("4", nil)},
		},
		"7": {
			Containers: []corev1.Container{container("6", nil)},
			Overhead:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")},
		},
		"8": {Containers: []corev1.Container{container("1", nil)}, Resources: new(container("8", nil).Resources)},
	} {
		if got := usage(&corev1.Pod{Spec: spec}, "requests.cpu"); got.String() != want {
			t.Errorf("%s, want %s", &got, want)
		}
	}
}
