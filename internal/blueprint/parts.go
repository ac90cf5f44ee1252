package blueprint

// K8shelld is the agent that runs as a workspace's first process.
type K8shelld struct {
	// Image is the image that the agent is installed from.
	Image string `yaml:"image" json:"image,omitempty"`
	// ImagePullPolicy is Kubernetes' own, for the agent's image.
	ImagePullPolicy string `yaml:"imagePullPolicy" json:"imagePullPolicy,omitempty"`
	// IgnoreOrphans leaves processes alone whose parents have ended.
	IgnoreOrphans bool `yaml:"ignoreOrphans" json:"ignoreOrphans,omitempty"`
	// Connection is how the agent is reached. It is handed to the agent as it is.
	Connection map[string]any `yaml:"connection" json:"connection,omitempty"`
}

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

// EgressPods are the pods of a namespace that carry all of some labels.
type EgressPods struct {
	// Namespace of the pods; the workspace's own if not given.
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
	// SecurityContext is Kubernetes' own, for the sidecar.
	SecurityContext map[string]any `yaml:"securityContext" json:"securityContext,omitempty"`
}
