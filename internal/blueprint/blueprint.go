// Package blueprint says what a workspace is made of: it loads blueprints,
// lets them inherit and validates what comes out.
package blueprint

// Blueprint is a resolved blueprint: everything inherited, nothing left open.
type Blueprint struct {
	// Name is what stands behind ~ in a user string.
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
	// ImagePullPolicy is Kubernetes' own.
	ImagePullPolicy string `yaml:"imagePullPolicy" json:"imagePullPolicy"`
	// Hostname of the workspace; its canonical ID if not given.
	Hostname string `yaml:"hostname" json:"hostname,omitempty"`
	// Env are variables of the environment.
	Env map[string]string `yaml:"env" json:"env,omitempty"`
	// Resources are what the workspace asks for.
	Resources Resources `yaml:"resources" json:"resources"`
	// Storages are directories that are not the image's, by name.
	Storages map[string]Storage `yaml:"storages" json:"storages,omitempty"`
	// InitScripts are run once each in a new home, in order.
	InitScripts []InitScript `yaml:"initScripts" json:"initScripts,omitempty"`
	// SecurityContext is Kubernetes' own, for the container.
	SecurityContext map[string]any `yaml:"securityContext" json:"securityContext,omitempty"`
	// ExtFiles are files to lay into the workspace: absolute path to content.
	ExtFiles map[string]string `yaml:"extFiles" json:"extFiles,omitempty"`

	// Lineage is the name and its ancestors, nearest first.
	Lineage []string `yaml:"-" json:"-"`
	// Origin is the file that the blueprint itself was read from.
	Origin string `yaml:"-" json:"-"`
	// Origins says of each field which layer set it.
	Origins Origins `yaml:"-" json:"-"`
}

// Resources are what a workspace asks for and is limited to, as Kubernetes
// quantities.
type Resources struct {
	// CPU is asked for, and can be exceeded.
	CPU string `yaml:"cpu" json:"cpu"`
	// Memory is asked for, and the limit as well.
	Memory string `yaml:"memory" json:"memory"`
}

// Storage is a directory of the workspace that is not its image's.
type Storage struct {
	// Enabled is true unless it is set to false.
	Enabled *bool `yaml:"enabled" json:"enabled,omitempty"`
	// Type is local (a volume claim of this workspace), emptyDir or memory.
	Type string `yaml:"type" json:"type"`
	// Path is where it is mounted, absolute.
	Path string `yaml:"path" json:"path"`
	// Readonly keeps the workspace from writing to it.
	Readonly bool `yaml:"readonly" json:"readonly,omitempty"`
	// SizeLimit is a quantity, for emptyDir and memory.
	SizeLimit string `yaml:"sizeLimit" json:"sizeLimit,omitempty"`
	// ClaimSpec is a PersistentVolumeClaimSpec, for local.
	ClaimSpec map[string]any `yaml:"claimSpec" json:"claimSpec,omitempty"`
}

// On says whether the storage is wanted: it is, unless it is switched off.
func (s Storage) On() bool { return s.Enabled == nil || *s.Enabled }

// InitScript is run once in a new workspace's home, by /bin/sh.
type InitScript struct {
	// Name is unique among the scripts of a workspace.
	Name string `yaml:"name" json:"name"`
	// Script is what /bin/sh runs.
	Script string `yaml:"script" json:"script"`
}
