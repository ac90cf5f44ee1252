package manifest

import (
	"cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/registry/image"
)

func resources(r blueprint.Resources) map[string]any {
	return map[string]any{"cpu": r.CPU, "memory": r.Memory}
}

// agent is nil for the shell runtime.
func agent(k blueprint.K8shelld) any {
	if k.Image == "" {
		return nil
	}
	return map[string]any{"image": k.Image, "imagePullPolicy": cmp.Or(k.ImagePullPolicy, blueprint.DefaultPullPolicy)}
}

// agentVersion is the tag of the agent's image, or the beginning of its digest.
func agentVersion(ref string) string {
	if ref == "" {
		return ""
	}
	r := image.Parse(ref)
	return cmp.Or(r.Tag, r.Hex(12), "latest")
}

// podman is nil without the sidecar.
func podman(p blueprint.Podman) any {
	if !p.Enabled {
		return nil
	}
	return map[string]any{
		"image": p.Image, "imagePullPolicy": cmp.Or(p.ImagePullPolicy, blueprint.DefaultPullPolicy),
		"resources": resources(p.Resources), "sizeLimit": p.SizeLimit, "securityContext": podmanSecurity(p),
	}
}

// podmanSecurity is privileged by default, which containers inside a container require
// unless the cluster is prepared for them.
func podmanSecurity(p blueprint.Podman) map[string]any {
	if len(p.SecurityContext) == 0 {
		return map[string]any{"privileged": true}
	}
	return p.SecurityContext
}

// privileged names what in a workspace is, and the field that decides it; empty for
// nothing.
func privileged(b blueprint.Blueprint) string {
	switch {
	case b.SecurityContext["privileged"] == true:
		return "its container is privileged (securityContext)"
	case b.Podman.Enabled && podmanSecurity(b.Podman)["privileged"] == true:
		return "its podman sidecar is privileged (podman.securityContext)"
	}
	return ""
}
