package cause

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
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
	Waits      bool   // nothing has failed yet
	Job        bool   // that is a Job, whose template cannot be changed
	Bundle     bool   // a bundle has installed what makes the pod
	Namespace  string
	Pod        string // its name; empty where that is not known
	Image      string
	Memory     string // the limit of the container that the cause is about
	Requests   string // what the pod asks for: 64 cpu, 2Gi memory
	Probe      string // what the container's probe asks
	OwnNode    string // the only one that the pod is for, as those of a DaemonSet are
	// PullSecrets are the pull secrets that the pod names.
	PullSecrets []string
	// Claimed is true for a pod that mounts volume claims, and Bound if all of them are known to be bound.
	Claimed, Bound bool
	Node           string // that the pod is on
	Deleting       bool   // the pod
}

// isWorkspace is true for what berth makes: a blueprint says what is in it, and not the
// reader of the hint.
func (a About) isWorkspace() bool { return a.Blueprint != "" || a.UserString != "" }

// Of adds what the specification of a pod says about a cause.
func (a About) Of(spec corev1.PodSpec, c *v1.Cause) About {
	a.Requests, a.OwnNode, a.Node = requests(spec), ownNode(spec), spec.NodeName
	for _, secret := range spec.ImagePullSecrets {
		a.PullSecrets = append(a.PullSecrets, secret.Name)
	}
	if c == nil {
		return a
	}
	a.Claimed = ofClaim(spec, c.Message)
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

// ofClaim is true for what is said of the volume of a claim: by the name that it has in the pod, or that of a
// PersistentVolume, or, where no volume is named, if the pod mounts any claim.
func ofClaim(spec corev1.PodSpec, message string) bool {
	named := FailedVolume.FindStringSubmatch(message)
	claims := false
	for _, v := range spec.Volumes {
		claim := v.PersistentVolumeClaim != nil || v.Ephemeral != nil
		if len(named) > 0 && named[1] == v.Name {
			return claim
		}
		claims = claims || claim
	}
	return claims
}

// ownNode is the only node that the pod may be on, by its name; empty if it may be on others.
func ownNode(spec corev1.PodSpec) string {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return ""
	}
	required := spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	if required == nil || len(required.NodeSelectorTerms) != 1 {
		return ""
	}
	for _, field := range required.NodeSelectorTerms[0].MatchFields {
		if field.Key == metav1.ObjectNameField && field.Operator == corev1.NodeSelectorOpIn && len(field.Values) == 1 {
			return field.Values[0]
		}
	}
	return ""
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

// spec says where to make a change.
func (a About) spec() string {
	switch {
	case a.Bundle:
		return "the bundle or its values"
	case !a.isWorkspace():
		return "the pod's spec"
	case a.Blueprint == "":
		return "its blueprint"
	case a.Origin == "" || strings.HasPrefix(a.Origin, "built in"):
		return "blueprint " + a.Blueprint
	}
	return fmt.Sprintf("blueprint %s (%s)", a.Blueprint, a.Origin)
}

// field names a field of the blueprint, or the one of the pod that it is; of the
// container, where the cause is about one.
func (a About) field(c v1.Cause, ofBlueprint, ofPod string) string {
	switch flag := a.setBy(ofBlueprint); {
	case flag != "":
		return fmt.Sprintf("%q, which %s gave", ofBlueprint, flag)
	case a.isWorkspace() && a.Set == nil:
		return fmt.Sprintf("%q in %s (or the flag that gave it)", ofBlueprint, a.spec())
	case a.isWorkspace():
		return fmt.Sprintf("%q in %s", ofBlueprint, a.spec())
	case c.Container != "":
		return fmt.Sprintf("%q of container %s in %s", ofPod, c.Container, a.spec())
	}
	return fmt.Sprintf("%q in %s", ofPod, a.spec())
}

// setBy is the flag that has set a field of the blueprint, or something in it; empty if none has.
func (a About) setBy(field string) string {
	for path, flag := range a.Set {
		if path == field || strings.HasPrefix(path, field+".") || strings.HasPrefix(field, path+".") {
			return flag
		}
	}
	return ""
}

// imageOf is where the image is named that a cause is about: that of a container, or of a volume.
func (a About) imageOf(c v1.Cause) string {
	if strings.Contains(c.Message, OfVolume) {
		return `"image.reference" of the volume in ` + a.spec()
	}
	return a.field(c, imageField(c.Container), "image")
}

// imageField is the field of a blueprint that has the image of a container; in a
// workload, the workspace's ID is in front of its name.
func imageField(container string) string {
	for name, field := range map[string]string{
		"init-base": "k8shelld.image", "init-repository": "helperImage", "init-storage": "helperImage",
		"k8shell-podman": "podman.image",
	} {
		if container == name || strings.HasSuffix(container, "-"+name) {
			return field
		}
	}
	return "image"
}

// again is how a change takes effect.
func (a About) again() string {
	switch {
	case a.isWorkspace():
		return "Then " + a.Provision() + "."
	case a.Bundle:
		return "Then install the bundle again."
	case a.Job:
		return "Then delete the job and apply it again."
	case a.Controlled:
		return "Then apply its manifest again."
	case a.Waits:
		return "Kubernetes keeps trying."
	}
	return "Then delete the pod and create it again."
}

// updated is how a change takes effect for a pod that still waits: to provision the workspace
// again follows the pod as it is.
func (a About) updated() string {
	if a.Blueprint == "" || a.UserString == "" {
		return a.again()
	}
	return "Then run `" + fault.Command("berth", "update", a.UserString) + a.option() + "`."
}

// retried names what creates a pod that was refused, once it is accepted.
func (a About) retried() string {
	if a.Controlled {
		return "Kubernetes keeps trying."
	}
	return a.again()
}

// bringBack is what to do about a pod that is over, without any change.
func (a About) bringBack() string {
	switch {
	case a.isWorkspace():
		return a.back()
	case a.Controlled:
		return "Its controller creates another pod."
	}
	return "If you still need the pod, create it again."
}

// back is what brings a workspace back whose pod is over.
func (a About) back() string {
	if a.UserString == "" {
		return "Start it again: any storage it has is kept."
	}
	return "Bring it back, any storage it has is kept: `" + fault.Command("berth", "start", a.UserString) + a.option() +
		"`."
}

// Provision is the command that brings the workspace up again, as a part of a
// sentence.
func (a About) Provision() string {
	if a.UserString == "" {
		return "provision again"
	}
	return "run `" + fault.Command("berth", cmp.Or(a.Verb, "provision"), a.UserString) + a.option() + "` again"
}

// option is the namespace as an option, of kubectl and berth.
func (a About) option() string {
	if a.Namespace == "" {
		return ""
	}
	return " --namespace " + a.Namespace
}

// lastWords is how to see what a container has logged last.
func (a About) lastWords(c v1.Cause) string {
	pod, ok := strings.CutPrefix(c.Object, "pod/")
	if !ok || c.Container == "" {
		return "Its log may say more."
	}
	previous := ""
	if c.Restarts != nil && *c.Restarts > 0 {
		previous = " --previous"
	}
	show := fault.Command("kubectl", "logs", pod)
	if a.UserString != "" {
		show = fault.Command("berth", "logs", a.UserString)
	}
	return fmt.Sprintf("Its log may say more (`%s --container %s%s%s`).", show, c.Container, a.option(), previous)
}
