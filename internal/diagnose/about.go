package diagnose

import (
	"encoding/base64"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/watch"
)

// About is what a hint may name besides the cause itself. All of it may be
// unknown.
type About struct {
	UserString string
	Blueprint  string // empty for what is no workspace
	Origin     string // file:line of the blueprint
	Controlled bool   // something makes the pod anew when it is gone
	Namespace  string
	Image      string
	Memory     string // the limit of the container that the cause is about
	Requests   string // what the pod asks for: 64 cpu, 2Gi memory
	Probe      string // what the container's probe asks
}

// describe reads in the pod's specification what a hint may name.
func describe(subject watch.Subject, records []watch.Record, cause *v1.Cause) About {
	pod := podOf(subject, records, cause)
	if pod == nil {
		return About{Namespace: subject.Namespace}
	}
	about := aboutPod(pod)
	if subject.Kind != "" && subject.Kind != watch.KindPod { // no blueprint made the other containers of a workload
		about.UserString, about.Blueprint = "", ""
	}
	return about.Of(pod.Spec, cause)
}

// aboutPod reads in a pod's labels what a hint may name.
func aboutPod(pod *corev1.Pod) About {
	about := About{
		Namespace: pod.Namespace, Blueprint: pod.Labels[kube.LabelBlueprint],
		Controlled: metav1.GetControllerOf(pod) != nil,
	}
	if text, err := base64.StdEncoding.DecodeString(pod.Annotations[kube.AnnotationUserString]); err == nil {
		about.UserString = string(text)
	}
	return about
}

// Of adds what the specification of a pod says about a cause.
func (a About) Of(spec corev1.PodSpec, cause *v1.Cause) About {
	a.Requests = requests(spec)
	if cause == nil {
		return a
	}
	for _, c := range append(append([]corev1.Container{}, spec.InitContainers...), spec.Containers...) {
		if c.Name == cause.Container {
			a.Image = c.Image
			a.Probe = probe(c, cause.Message)
			if limit, ok := c.Resources.Limits[corev1.ResourceMemory]; ok {
				a.Memory = limit.String()
			}
		}
	}
	return a
}

// requests sums up what the scheduler looks for room for, of the main
// containers: 500m cpu, 2Gi memory.
func requests(spec corev1.PodSpec) string {
	var parts []string
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		sum := spec.Overhead[name].DeepCopy()
		for _, c := range spec.Containers {
			sum.Add(c.Resources.Requests[name])
		}
		if !sum.IsZero() {
			parts = append(parts, sum.String()+" "+string(name))
		}
	}
	return strings.Join(parts, " and ")
}

// probe says what the probe asks that a message speaks of.
func probe(c corev1.Container, message string) string {
	p := c.ReadinessProbe
	switch {
	case strings.Contains(message, "Startup probe"):
		p = c.StartupProbe
	case strings.Contains(message, "Liveness probe"):
		p = c.LivenessProbe
	}
	if p == nil {
		return ""
	}
	switch {
	case p.HTTPGet != nil:
		return fmt.Sprintf("GET %s on port %s", slashed(p.HTTPGet.Path), port(p.HTTPGet.Port))
	case p.TCPSocket != nil:
		return "a connection to port " + port(p.TCPSocket.Port)
	case p.GRPC != nil:
		return fmt.Sprintf("gRPC health on port %d", p.GRPC.Port)
	case p.Exec != nil:
		return "the command `" + strings.Join(p.Exec.Command, " ") + "`"
	}
	return ""
}

func port(p intstr.IntOrString) string { return p.String() }

func slashed(path string) string { return "/" + strings.TrimPrefix(path, "/") }
