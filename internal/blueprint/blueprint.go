// Package blueprint is the model of blueprints, which say what a workspace is made of, and their validation. Package
// catalog loads and resolves them.
package blueprint

import (
	"fmt"
	"path"
)

// Blueprint is a blueprint, as written or with everything inherited.
type Blueprint struct {
	// Name is what follows ~ in a user string.
	Name string `yaml:"name" json:"name"`
	// Description is for people.
	Description string `yaml:"description" json:"description,omitempty"`
	// IsTemplate is set for a blueprint that is there to inherit from. It is not inherited.
	IsTemplate bool `yaml:"isTemplate" json:"-"`
	// Template is the blueprint to inherit from.
	Template string `yaml:"template" json:"-"`
	// Image is an image with a /bin/sh; without a registry's host it comes from the default registry.
	Image string `yaml:"image" json:"image"`
	// ImagePullPolicy is Kubernetes' own; IfNotPresent if not given.
	ImagePullPolicy string `yaml:"imagePullPolicy" json:"imagePullPolicy"`
	// HelperImage is the image of the containers that prepare a workspace, such as the one that clones its repository:
	// an image of the platform's, with a /bin/sh and git.
	HelperImage string `yaml:"helperImage" json:"helperImage,omitempty"`
	// Hostname of the workspace; its canonical ID if not given.
	Hostname string `yaml:"hostname" json:"hostname,omitempty"`
	// Subdomain is the headless Service that gives the workspace its DNS name, <id>.<subdomain>.<namespace>.svc.
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
	// ShowInitScriptStatus is for the agent: whether a shell shows what the init scripts do.
	ShowInitScriptStatus bool `yaml:"showInitScriptStatus" json:"showInitScriptStatus,omitempty"`
	// StrictScripts makes an init script that fails a failure of the workspace.
	StrictScripts bool `yaml:"strictScripts" json:"strictScripts,omitempty"`
	// SecurityContext is Kubernetes' own, for the container.
	SecurityContext map[string]any `yaml:"securityContext" json:"securityContext,omitempty"`
	// ExtFiles are files to add to the workspace: absolute path to content.
	ExtFiles map[string]string `yaml:"extFiles" json:"extFiles,omitempty"`
	// EnableApps switches the agent's applications on.
	EnableApps bool `yaml:"enableApps" json:"enableApps,omitempty"`
	// Apps are the settings of the agent's applications, by name: enabled, binary, versionCmd, versionRegex, install,
	// start, listen, restartPolicy, maxRestartBackoff, installAsRoot, autoStart, protocol. They are handed to the agent
	// as they are.
	Apps map[string]any `yaml:"apps" json:"apps,omitempty"`
	// Limits are for how long a workspace runs, and how long it is kept.
	Limits Limits `yaml:"limits" json:"limits,omitzero"`

	// Proxies are the variables of the environment by which platform blueprints name proxies. The containers that
	// prepare a workspace have no others.
	Proxies map[string]string `yaml:"-" json:"-"`
	// Lineage is the name and its ancestors, nearest first.
	Lineage []string `yaml:"-" json:"-"`
	// Platform is the platform blueprint that it is, or that a custom one inherits from: the one that its user must be
	// allowed to use.
	Platform string `yaml:"-" json:"-"`
	// Origin is the file that the blueprint itself was read from.
	Origin string `yaml:"-" json:"-"`
	// Origins is the layer that set each field, by dotted path: image, env.TEAM, initScripts[0].name.
	Origins map[string]string `yaml:"-" json:"-"`
	// Expressions are those that have not been evaluated, by dotted path.
	Expressions map[string]string `yaml:"-" json:"-"`
}

// File is a file of platform blueprints.
type File struct {
	// Blueprints of this file.
	Blueprints []Blueprint `yaml:"blueprints"`
}

// Resources are what a workspace asks for and is limited to, as Kubernetes quantities.
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

// InitScript is run once in a new workspace's home, by /bin/sh, or whenever the workspace starts.
type InitScript struct {
	// Name is unique among the scripts of a workspace.
	Name string `yaml:"name" json:"name"`
	// Script is what /bin/sh runs.
	Script string `yaml:"script" json:"script"`
	// Always runs it whenever the workspace starts, not only in a new home.
	Always bool `yaml:"always" json:"always,omitempty"`
}

// K8shelld is the agent that runs as a workspace's first process.
type K8shelld struct {
	// Image is the image that the agent is installed from.
	Image string `yaml:"image" json:"image,omitempty"`
	// ImagePullPolicy is Kubernetes' own, for the agent's image.
	ImagePullPolicy string `yaml:"imagePullPolicy" json:"imagePullPolicy,omitempty"`
	// IgnoreOrphans are regular expressions over command lines: what they match is left alone when its parent has
	// ended.
	IgnoreOrphans []string `yaml:"ignoreOrphans" json:"ignoreOrphans,omitempty"`
	// Connection is how the agent is reached, such as allowAnyNS and allowAnySA: from any namespace, by any service
	// account. It is handed to the agent as it is.
	Connection map[string]any `yaml:"connection" json:"connection,omitempty"`
}

// The types of storages.
const (
	// StorageLocal is a volume claim of this workspace, pvc-<id>-<storage>.
	StorageLocal = "local"
	// StorageShared is a volume claim that workspaces share, pvc-<storage>[-<id>] with the storage's own id; it is
	// never deleted.
	StorageShared = "shared"
	// StorageEmptyDir lasts as long as the pod.
	StorageEmptyDir = "emptyDir"
	// StorageMemory is an emptyDir in memory.
	StorageMemory = "memory"
	// StorageScratch is a directory of the node that outlives the pod for a while; the CSI driver of `berth serve
	// volumes` makes it.
	StorageScratch = "scratch"
)

// Storage is a directory of the workspace that is not its image's.
type Storage struct {
	// Enabled is true unless it is set to false.
	Enabled *bool `yaml:"enabled" json:"enabled,omitempty"`
	// ID distinguishes shared storages of the same name: it ends the claim's name.
	ID string `yaml:"id" json:"id,omitempty"`
	// Type is local (a volume claim of this workspace), shared (one that workspaces share), emptyDir, memory or scratch
	// (a directory of the node that outlives the pod for a while).
	Type string `yaml:"type" json:"type"`
	// Path is where it is mounted, absolute.
	Path string `yaml:"path" json:"path"`
	// Readonly keeps the workspace from writing to it.
	Readonly bool `yaml:"readonly" json:"readonly,omitempty"`
	// SizeLimit is a quantity, for emptyDir and memory.
	SizeLimit string `yaml:"sizeLimit" json:"sizeLimit,omitempty"`
	// Afterlife is how long the data of a scratch storage outlives its pod, a duration such as 6h or 90m, and never
	// longer than that of the node, which holds if it is left out.
	Afterlife string `yaml:"afterlife" json:"afterlife,omitempty"`
	// Driver is the name of the CSI driver of a scratch storage, if it is not scratch.berth.dev.
	Driver string `yaml:"driver" json:"driver,omitempty"`
	// ExistingClaim is a volume claim of the namespace to mount instead of making one, for local and shared.
	ExistingClaim string `yaml:"existingClaim" json:"existingClaim,omitempty"`
	// FsOwnerUID is the user ID that the directory is given to before the workspace starts.
	FsOwnerUID *int64 `yaml:"fsOwnerUid" json:"fsOwnerUid,omitempty"`
	// FsOwnerGID is the group ID that the directory is given to.
	FsOwnerGID *int64 `yaml:"fsOwnerGid" json:"fsOwnerGid,omitempty"`
	// ClaimSpec is a PersistentVolumeClaimSpec, for local and shared.
	ClaimSpec map[string]any `yaml:"claimSpec" json:"claimSpec,omitempty"`
	// ClaimSpecAnnotations are annotations of the claim that is made.
	ClaimSpecAnnotations map[string]string `yaml:"claimSpecAnnotations" json:"claimSpecAnnotations,omitempty"`
}

// On says whether the storage is wanted: it is, unless it is switched off.
func (s Storage) On() bool { return s.Enabled == nil || *s.Enabled }

// Claimed says whether the storage is a volume claim.
func (s Storage) Claimed() bool { return s.Type == StorageLocal || s.Type == StorageShared }

// Scratch are the scratch storages that are switched on, by name, each with the CSI driver that it names, or none.
func (b Blueprint) Scratch() map[string]string {
	drivers := map[string]string{}
	for name, s := range b.Storages {
		if s.On() && s.Type == StorageScratch {
			drivers[name] = s.Driver
		}
	}
	return drivers
}

// Source is a text with blueprints: a file of platform blueprints, or a user's own.
type Source struct {
	// Name is where it was found, for messages: a path, configmap/ns/name:key, or
	// github.com/org/proj@main:.k8shell.yaml.
	Name string
	Text []byte
	// Dir is the directory of which it may include files; empty for none.
	Dir string
	// Commit is that of a file of a repository, where it is known.
	Commit string
}

// ConfigMap is one that holds platform blueprints: each key that ends in .yaml or .yml is a file.
type ConfigMap struct {
	Namespace string `yaml:"namespace"`
	Name      string `yaml:"name"`
}

// IsFile says of the name of a file of a directory, or of a key of a ConfigMap, that it is one of blueprints.
func IsFile(name string) bool {
	extension := path.Ext(name)
	return extension == ".yaml" || extension == ".yml"
}

// CustomFile is the file of a repository, at its root, that holds its blueprint.
const CustomFile = ".k8shell.yaml"

// CustomFields are what a custom blueprint may set in addition to the template that it must name. That is a security
// boundary: anybody who can push to a repository writes its blueprint, and everything else is for the platform to
// decide. It holds for the fields as they are decoded, whatever aliases, << and quoted or tagged keys they are written
// with.
func CustomFields() []string {
	return []string{
		"name", "splash", "image", "env", "network", "resources", "storages", "initScripts",
		"showInitScriptStatus", "enableApps", "apps",
	}
}

// Limits are for how long a workspace runs, and how long it is kept, in hours: 0.5 is half an hour. 0 is for ever; what
// is left out is as the configuration has it.
type Limits struct {
	// MaxActiveHours is how long a workspace runs until it is stopped.
	MaxActiveHours *float64 `yaml:"maxActiveHours" json:"maxActiveHours,omitempty"`
	// MaxStoppedHours is how long a workspace stays stopped until it is deleted, with its storages.
	MaxStoppedHours *float64 `yaml:"maxStoppedHours" json:"maxStoppedHours,omitempty"`
	// MaxAgeHours is how old a workspace gets until it is deleted, with its storages, whether it runs or not.
	MaxAgeHours *float64 `yaml:"maxAgeHours" json:"maxAgeHours,omitempty"`
}

// The bounds of a limit: what enforces it looks every ten seconds, and ten years are enough.
const (
	minHours = 0.01
	maxHours = 10 * 365 * 24
)

// Validate returns the problems of limits, each as "limits.FIELD: message".
func (l Limits) Validate() (problems []string) {
	for _, limit := range []struct {
		name  string
		hours *float64
	}{{"maxActiveHours", l.MaxActiveHours}, {"maxStoppedHours", l.MaxStoppedHours}, {"maxAgeHours", l.MaxAgeHours}} {
		if h := limit.hours; h != nil && *h != 0 && !(*h >= minHours && *h <= maxHours) { // not a number is neither
			problems = append(problems, fmt.Sprintf("limits.%s: %g: must be a number of hours from %g to %d, "+
				"or 0 for no limit", limit.name, *h, minHours, maxHours))
		}
	}
	return problems
}
