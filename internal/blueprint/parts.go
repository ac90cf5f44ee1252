package blueprint

import (
	"maps"
	"slices"
)

// The classes of network policies.
const (
	NetworkWorkspace    = "workspace"
	NetworkSystem       = "system"
	NetworkIsolated     = "isolated"
	NetworkUser         = "user"
	NetworkOrganization = "organization"
)

// Network is what a workspace may reach, and who may reach it.
type Network struct {
	// NetworkPolicyClass is workspace, system, isolated, user or organization.
	NetworkPolicyClass string `yaml:"networkPolicyClass" json:"networkPolicyClass,omitempty"`
	// AllowEgressToCIDRs are further blocks of addresses that may be reached.
	AllowEgressToCIDRs []string `yaml:"allowEgressToCIDRs" json:"allowEgressToCIDRs,omitempty"`
	// AllowEgressToPods are further pods that may be reached.
	AllowEgressToPods []EgressPods `yaml:"allowEgressToPods" json:"allowEgressToPods,omitempty"`
}

// AnyNamespace is what EgressPods have as their namespace if they are those of every one.
const AnyNamespace = "*"

// EgressPods are the pods of a namespace that carry all of some labels.
type EgressPods struct {
	// Namespace of the pods; the workspace's own if not given, every one if it is *.
	Namespace string `yaml:"namespace" json:"namespace,omitempty"`
	// Labels that the pods carry.
	Labels map[string]string `yaml:"labels" json:"labels"`
}

// Podman is a sidecar in which images are built and containers run.
type Podman struct {
	// Enabled adds the sidecar to the workspace.
	Enabled bool `yaml:"enabled" json:"enabled,omitempty"`
	// Image is the sidecar's image.
	Image string `yaml:"image" json:"image,omitempty"`
	// ImagePullPolicy is Kubernetes' own, for the sidecar's image.
	ImagePullPolicy string `yaml:"imagePullPolicy" json:"imagePullPolicy,omitempty"`
	// Resources are what the sidecar asks for.
	Resources Resources `yaml:"resources" json:"resources,omitzero"`
	// SizeLimit bounds what its images and containers take, as a quantity.
	SizeLimit string `yaml:"sizeLimit" json:"sizeLimit,omitempty"`
	// CreateDockerSockSymlink is for the agent: whether it links /var/run/docker.sock to the sidecar's socket.
	CreateDockerSockSymlink bool `yaml:"createDockerSockSymlink" json:"createDockerSockSymlink,omitempty"`
	// ParentStorages are the names of the workspace's storages that the sidecar has, too, at the same paths; * is all.
	ParentStorages []string `yaml:"parentStorages" json:"parentStorages,omitempty"`
	// Storages are directories that the sidecar alone has, by name.
	Storages map[string]Storage `yaml:"storages" json:"storages,omitempty"`
	// ExtFiles are files to add to the sidecar: absolute path to content.
	ExtFiles map[string]string `yaml:"extFiles" json:"extFiles,omitempty"`
	// SecurityContext is Kubernetes' own, for the sidecar. Without one it runs as user and group 1000, not confined by
	// AppArmor, and not privileged.
	SecurityContext map[string]any `yaml:"securityContext" json:"securityContext,omitempty"`
}

// allParents is the parent storage that is all of them.
const allParents = "*"

// PodmanStorage begins the name of a storage that is the sidecar's alone, where the workspace's are named, too.
const PodmanStorage = "podman-"

// Security is the security context of the sidecar: the one that is given, or one that has what containers in a
// container take and is not privileged.
func (p Podman) Security() map[string]any {
	if len(p.SecurityContext) > 0 {
		return p.SecurityContext
	}
	return map[string]any{
		"runAsUser": podmanID, "runAsGroup": podmanID,
		"appArmorProfile": map[string]any{"type": "Unconfined"},
	}
}

// podmanID is the user that images of podman have for what needs no root.
const podmanID = 1000

// Parents are the names of the workspace's storages that the sidecar has, too, in order.
func (b Blueprint) Parents() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(b.Storages)) {
		wanted := slices.Contains(b.Podman.ParentStorages, allParents) ||
			slices.Contains(b.Podman.ParentStorages, name)
		if wanted && b.Storages[name].On() {
			names = append(names, name)
		}
	}
	return names
}
