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

func validateNetwork(report reporter, n Network) {
	if n.NetworkPolicyClass != "" {
		oneOf(report, "network.networkPolicyClass", n.NetworkPolicyClass,
			NetworkWorkspace, NetworkSystem, NetworkIsolated, NetworkUser, NetworkOrganization)
	}
	for i, cidr := range n.AllowEgressToCIDRs {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			report("network.allowEgressToCIDRs[%d]: invalid CIDR %q: use one such as 10.0.0.0/8, 2001:db8::/32", i,
				shorten(cidr))
		}
	}
	for i, pods := range n.AllowEgressToPods {
		field := fmt.Sprintf("network.allowEgressToPods[%d]", i)
		ifGiven(report, field+".namespace", pods.Namespace, validation.IsDNS1123Label)
		if len(pods.Labels) == 0 {
			report("%s.labels: required: no labels would select every pod", field)
		}
		for _, name := range slices.Sorted(maps.Keys(pods.Labels)) {
			problems := slices.Concat(validation.IsQualifiedName(name), validation.IsValidLabelValue(pods.Labels[name]))
			reportAll(report, fmt.Sprintf("%s.labels: %q", field, name), problems)
		}
	}
}

func validatePodman(report, relate reporter, p Podman) {
	if p.Enabled && p.Image == "" {
		relate("podman.image: required")
	}
	imageName(report, "podman.image", p.Image)
	pullPolicy(report, "podman.imagePullPolicy", p.ImagePullPolicy)
	validateResources(report, "podman.resources", p.Resources)
	quantity(report, "podman.sizeLimit", p.SizeLimit, disk())
	var c corev1.SecurityContext
	if structured(report, "podman.securityContext", p.SecurityContext, &c) {
		validateSecurity(report, "podman.securityContext", c)
	}
}

func validateResources(report reporter, field string, r Resources) {
	quantity(report, field+".cpu", r.CPU, cpu())
	quantity(report, field+".memory", r.Memory, memory())
}

// validateAgent requires the security context that the agent needs: it starts as
// root, switches to the user and writes to the image's file system.
func validateAgent(report, relate reporter, b Blueprint) {
	imageName(report, "k8shelld.image", b.K8shelld.Image)
	pullPolicy(report, "k8shelld.imagePullPolicy", b.K8shelld.ImagePullPolicy)
	var c corev1.SecurityContext
	if !structured(report, "securityContext", b.SecurityContext, &c) {
		return
	}
	validateSecurity(report, "securityContext", c)
	if b.K8shelld.Image == "" {
		return
	}
	if b.StrictScripts {
		relate("strictScripts: must not be true: the agent runs the init scripts, and what becomes of them cannot be seen")
	}
	if c.RunAsUser != nil && *c.RunAsUser != 0 {
		relate("securityContext.runAsUser: must be 0, not %d: the agent starts as root", *c.RunAsUser)
	}
	if c.RunAsNonRoot != nil && *c.RunAsNonRoot {
		relate("securityContext.runAsNonRoot: must not be true: the agent starts as root")
	}
	if c.ReadOnlyRootFilesystem != nil && *c.ReadOnlyRootFilesystem {
		relate("securityContext.readOnlyRootFilesystem: must not be true: the agent writes to it")
	}
	for _, needed := range []string{"CHOWN", "SETUID", "SETGID"} {
		if drops(c.Capabilities, needed) {
			relate("securityContext.capabilities.drop: must not drop %s, which the agent requires", needed)
		}
	}
}

// drops reports whether a container has been deprived of a capability that is one of
// the default ones.
func drops(c *corev1.Capabilities, name string) bool {
	return c != nil && (has(c.Drop, name) || has(c.Drop, "ALL") && !has(c.Add, name) && !has(c.Add, "ALL"))
}

// has looks for a capability as container runtimes read it: in any case, with or
// without CAP_.
func has(all []corev1.Capability, name string) bool {
	return slices.ContainsFunc(all, func(c corev1.Capability) bool {
		return strings.TrimPrefix(strings.ToUpper(string(c)), "CAP_") == name
	})
}
