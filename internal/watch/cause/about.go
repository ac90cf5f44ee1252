package cause

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	v1 "github.com/berthdev/berth/api/v1"
)

// About is what a hint may name besides the cause itself. All of it may be
// unknown.
type About struct {
	UserString string
	Blueprint  string // empty for what is not a workspace
	Origin     string // file:line of the blueprint
	// Set are the fields that flags have set in place of the blueprint, with the name of the flag; nil
	// where that is not known.
	Set        map[string]string
	Verb       string // of the command that makes the pod again; empty for provision
	Controlled bool   // a controller replaces the pod when it is gone
	Job        bool   // that is a Job, whose template cannot be changed
	Bundle     bool   // a bundle has installed what makes the pod
	Namespace  string
	Image      string
	Memory     string // the limit of the container that the cause is about
	Requests   string // what the pod asks for: 64 cpu, 2Gi memory
	Probe      string // what the container's probe asks
}

// isWorkspace is true for what berth makes: a blueprint says what is in it, and not whoever
// reads the hint.
func (a About) isWorkspace() bool { return a.Blueprint != "" || a.UserString != "" }

// Of adds what the specification of a pod says about a cause.
func (a About) Of(spec corev1.PodSpec, c *v1.Cause) About {
	a.Requests = requests(spec)
	if c == nil {
		return a
	}
	for _, container := range append(append([]corev1.Container{}, spec.InitContainers...), spec.Containers...) {
		if container.Name == c.Container {
			a.Image = container.Image
			a.Probe = probe(container, c.Message)
			if limit, ok := container.Resources.Limits[corev1.ResourceMemory]; ok {
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
	case strings.Contains(message, "Startup probe"), p == nil && c.StartupProbe != nil:
		p = c.StartupProbe
	case strings.Contains(message, "Liveness probe"):
		p = c.LivenessProbe
	}
	switch {
	case p == nil:
		return ""
	case p.HTTPGet != nil:
		return fmt.Sprintf("GET /%s on port %s", strings.TrimPrefix(p.HTTPGet.Path, "/"), p.HTTPGet.Port.String())
	case p.TCPSocket != nil:
		return "a connection to port " + p.TCPSocket.Port.String()
	case p.GRPC != nil:
		return fmt.Sprintf("gRPC health on port %d", p.GRPC.Port)
	case p.Exec != nil:
		return "the command `" + strings.Join(p.Exec.Command, " ") + "`"
	}
	return ""
}
