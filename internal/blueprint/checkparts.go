package blueprint

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func checkNetwork(say sayer, n Network) {
	if n.NetworkPolicyClass != "" {
		oneOf(say, "network.networkPolicyClass", n.NetworkPolicyClass,
			NetworkWorkspace, NetworkSystem, NetworkIsolated, NetworkUser, NetworkOrganization)
	}
	for i, cidr := range n.AllowEgressToCIDRs {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			say("network.allowEgressToCIDRs[%d]: invalid CIDR %q: use one such as 10.0.0.0/8, 2001:db8::/32", i, cidr)
		}
	}
	for i, pods := range n.AllowEgressToPods {
		field := fmt.Sprintf("network.allowEgressToPods[%d]", i)
		ifGiven(say, field+".namespace", pods.Namespace, validation.IsDNS1123Label)
		if len(pods.Labels) == 0 {
			say("%s.labels: required: no labels would select every pod", field)
		}
		for _, name := range slices.Sorted(maps.Keys(pods.Labels)) {
			for _, what := range slices.Concat(validation.IsQualifiedName(name), validation.IsValidLabelValue(pods.Labels[name])) {
				say("%s.labels: %q: %s", field, name, what)
			}
		}
	}
}

func checkPodman(say sayer, p Podman) {
	if p.Enabled && p.Image == "" {
		say("podman.image: required")
	}
	imageName(say, "podman.image", p.Image)
	pullPolicy(say, "podman.imagePullPolicy", p.ImagePullPolicy)
	quantity(say, "podman.resources.cpu", p.Resources.CPU)
	quantity(say, "podman.resources.memory", p.Resources.Memory)
	quantity(say, "podman.sizeLimit", p.SizeLimit)
	structured(say, "podman.securityContext", p.SecurityContext, &corev1.SecurityContext{})
}

// checkAgent wants the security context that the agent needs: it starts as root,
// makes itself the user and writes beside the image's files.
func checkAgent(say sayer, b Blueprint) {
	imageName(say, "k8shelld.image", b.K8shelld.Image)
	pullPolicy(say, "k8shelld.imagePullPolicy", b.K8shelld.ImagePullPolicy)
	var c corev1.SecurityContext
	if !structured(say, "securityContext", b.SecurityContext, &c) || b.K8shelld.Image == "" {
		return
	}
	if c.RunAsUser != nil && *c.RunAsUser != 0 {
		say("securityContext.runAsUser: must be 0, not %d: the agent starts as root", *c.RunAsUser)
	}
	if c.RunAsNonRoot != nil && *c.RunAsNonRoot {
		say("securityContext.runAsNonRoot: must not be true: the agent starts as root")
	}
	if c.ReadOnlyRootFilesystem != nil && *c.ReadOnlyRootFilesystem {
		say("securityContext.readOnlyRootFilesystem: must not be true: the agent writes to it")
	}
	if c.Capabilities == nil {
		return
	}
	for _, needed := range []string{"CHOWN", "SETUID", "SETGID"} {
		if has(c.Capabilities.Drop, needed) || has(c.Capabilities.Drop, "ALL") && !has(c.Capabilities.Add, needed) && !has(c.Capabilities.Add, "ALL") {
			say("securityContext.capabilities.drop: must not drop %s, which the agent requires", needed)
		}
	}
}

// has looks for a capability as the runtimes read them: CAP_ may stand before
// it, in capitals or not.
func has(all []corev1.Capability, name string) bool {
	return slices.ContainsFunc(all, func(c corev1.Capability) bool {
		return strings.TrimPrefix(strings.ToUpper(string(c)), "CAP_") == name
	})
}
