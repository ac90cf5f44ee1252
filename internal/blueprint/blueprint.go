// Package blueprint says what a workspace is made of: it loads blueprints,
// lets them inherit and validates what comes out.
package blueprint

// Blueprint is a resolved blueprint: everything inherited, nothing left open.
type Blueprint struct {
	Name            string             `yaml:"name" json:"name"`
	Description     string             `yaml:"description" json:"description,omitempty"`
	IsTemplate      bool               `yaml:"isTemplate" json:"-"`
	Template        string             `yaml:"template" json:"-"`
	Image           string             `yaml:"image" json:"image"`
	ImagePullPolicy string             `yaml:"imagePullPolicy" json:"imagePullPolicy"`
	Hostname        string             `yaml:"hostname" json:"hostname,omitempty"`
	Env             map[string]string  `yaml:"env" json:"env,omitempty"`
	Resources       Resources          `yaml:"resources" json:"resources"`
	Storages        map[string]Storage `yaml:"storages" json:"storages,omitempty"`
	InitScripts     []InitScript       `yaml:"initScripts" json:"initScripts,omitempty"`
	SecurityContext map[string]any     `yaml:"securityContext" json:"securityContext,omitempty"`
	ExtFiles        map[string]string  `yaml:"extFiles" json:"extFiles,omitempty"`

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
	CPU    string `yaml:"cpu" json:"cpu"`
	Memory string `yaml:"memory" json:"memory"`
}

// Storage is a directory of the workspace that is not its image's.
type Storage struct {
	Enabled *bool `yaml:"enabled" json:"enabled,omitempty"`
	// Type is local (a volume claim of this workspace), emptyDir or memory.
	Type      string         `yaml:"type" json:"type"`
	Path      string         `yaml:"path" json:"path"`
	Readonly  bool           `yaml:"readonly" json:"readonly,omitempty"`
	SizeLimit string         `yaml:"sizeLimit" json:"sizeLimit,omitempty"`
	ClaimSpec map[string]any `yaml:"claimSpec" json:"claimSpec,omitempty"`
}

// On says whether the storage is wanted: it is, unless it is switched off.
func (s Storage) On() bool { return s.Enabled == nil || *s.Enabled }

// InitScript is run once in a new workspace's home, by /bin/sh.
type InitScript struct {
	Name   string `yaml:"name" json:"name"`
	Script string `yaml:"script" json:"script"`
}
