// Package blueprint is the model of blueprints, which say what a workspace is made
// of, and their validation. Package catalog loads and resolves them.
package blueprint

// Blueprint is a blueprint, as written or with everything inherited.
type Blueprint struct {
	// Name is what follows ~ in a user string.
	Name string `yaml:"name" json:"name"`
	// Description is for people.
	Description string `yaml:"description" json:"description,omitempty"`
	// IsTemplate is set for a blueprint that is there to inherit from. It is not
	// inherited.
	IsTemplate bool `yaml:"isTemplate" json:"-"`
	// Template is the blueprint to inherit from.
	Template string `yaml:"template" json:"-"`
	// Image is an image with a /bin/sh; without a registry's host it comes from
	// the default registry.
	Image string `yaml:"image" json:"image"`
	// ImagePullPolicy is Kubernetes' own; IfNotPresent if not given.
	ImagePullPolicy string `yaml:"imagePullPolicy" json:"imagePullPolicy"`
	// HelperImage is the image of the containers that prepare a workspace, such as
	// the one that clones its repository: an image of the platform's, with a /bin/sh
	// and git.
	HelperImage string `yaml:"helperImage" json:"helperImage,omitempty"`
	// Hostname of the workspace; its canonical ID if not given.
	Hostname string `yaml:"hostname" json:"hostname,omitempty"`
	// Subdomain is the headless Service that gives the workspace its DNS name,
	// <id>.<subdomain>.<namespace>.svc.
	Subdomain string `yaml:"subdomain" json:"subdomain,omitempty"`
	// Splash is the text that is shown when a shell is opened.
	Splash string `yaml:"splash" json:"splash,omitempty"`
	// K8shelld is the agent; without its image the shell runtime is used.
	K8shelld K8shelld `yaml:"k8shelld" json:"k8shelld,omitzero"`
	// Env are variables of the environment.
	Env map[string]string `yaml:"env" json:"env,omitempty"`
	// Network is what the workspace may reach.
	Network Network `yaml:"network" json:"network,omitzero"`
	// Resources are what the workspace asks for.
	Resources Resources `yaml:"resources" json:"resources"`
	// Podman is the sidecar that builds and runs images.
	Podman Podman `yaml:"podman" json:"podman,omitzero"`
	// Storages are directories that are not the image's, by name.
	Storages map[string]Storage `yaml:"storages" json:"storages,omitempty"`
	// InitScripts are run once each in a new home, in order.
	InitScripts []InitScript `yaml:"initScripts" json:"initScripts,omitempty"`
	// StrictScripts makes an init script that fails a failure of the workspace.
	StrictScripts bool `yaml:"strictScripts" json:"strictScripts,omitempty"`
	// SecurityContext is Kubernetes' own, for the container.
	SecurityContext map[string]any `yaml:"securityContext" json:"securityContext,omitempty"`
	// ExtFiles are files to add to the workspace: absolute path to content.
	ExtFiles map[string]string `yaml:"extFiles" json:"extFiles,omitempty"`
	// EnableApps switches the agent's applications on.
	EnableApps bool `yaml:"enableApps" json:"enableApps,omitempty"`
	// Apps are the settings of the agent's applications, by name. They are handed
	// to the agent as they are.
	Apps map[string]any `yaml:"apps" json:"apps,omitempty"`
	// Limits are for how long a workspace runs, and how long it is kept.
	Limits Limits `yaml:"limits" json:"limits,omitzero"`

	// Proxies are the variables of the environment by which platform blueprints name
	// proxies. The containers that prepare a workspace have no others.
	Proxies map[string]string `yaml:"-" json:"-"`
	// Lineage is the name and its ancestors, nearest first.
	Lineage []string `yaml:"-" json:"-"`
	// Platform is the platform blueprint that it is, or that a custom one inherits
	// from: the one that its user must be allowed to use.
	Platform string `yaml:"-" json:"-"`
	// Origin is the file that the blueprint itself was read from.
	Origin string `yaml:"-" json:"-"`
	// Origins is the layer that set each field, by dotted path: image, env.TEAM,
	// initScripts[0].name.
	Origins map[string]string `yaml:"-" json:"-"`
	// Expressions are those that have not been evaluated, by dotted path.
	Expressions map[string]string `yaml:"-" json:"-"`
}

// File is a file of platform blueprints.
type File struct {
	// Blueprints of this file.
	Blueprints []Blueprint `yaml:"blueprints"`
}

// Resources are what a workspace asks for and is limited to, as Kubernetes
// quantities.
type Resources struct {
	// CPU is asked for, and can be exceeded. A workspace asks for 500m if not given.
	CPU string `yaml:"cpu" json:"cpu"`
	// Memory is asked for, and the limit as well. A workspace has 512Mi if not given.
	Memory string `yaml:"memory" json:"memory"`
}

// What blueprints have that say nothing else.
const (
	DefaultHelperImage = "alpine/git:v2.49.1"
	DefaultPullPolicy  = "IfNotPresent"
	DefaultCPU         = "500m"
	DefaultMemory      = "512Mi"
)

// InitScript is run once in a new workspace's home, by /bin/sh.
type InitScript struct {
	// Name is unique among the scripts of a workspace.
	Name string `yaml:"name" json:"name"`
	// Script is what /bin/sh runs.
	Script string `yaml:"script" json:"script"`
}
