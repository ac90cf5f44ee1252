package blueprint

import (
	"maps"
	"slices"
)

// The types of storages.
const (
	// StorageLocal is a volume claim of this workspace, pvc-<id>-<storage>.
	StorageLocal = "local"
	// StorageShared is a volume claim that workspaces share, pvc-<storage>[-<id>]
	// with the storage's own id; it is never deleted.
	StorageShared = "shared"
	// StorageEmptyDir lasts as long as the pod.
	StorageEmptyDir = "emptyDir"
	// StorageMemory is an emptyDir in memory.
	StorageMemory = "memory"
	// StorageScratch is a directory of the node that outlives the pod for a while; the
	// CSI driver of `berth serve volumes` makes it.
	StorageScratch = "scratch"
)

// Storage is a directory of the workspace that is not its image's.
type Storage struct {
	// Enabled is true unless it is set to false.
	Enabled *bool `yaml:"enabled" json:"enabled,omitempty"`
	// ID distinguishes shared storages of the same name: it ends the claim's name.
	ID string `yaml:"id" json:"id,omitempty"`
	// Type is local (a volume claim of this workspace), shared (one that
	// workspaces share), emptyDir, memory or scratch (a directory of the node that
	// outlives the pod for a while).
	Type string `yaml:"type" json:"type"`
	// Path is where it is mounted, absolute.
	Path string `yaml:"path" json:"path"`
	// Readonly keeps the workspace from writing to it.
	Readonly bool `yaml:"readonly" json:"readonly,omitempty"`
	// SizeLimit is a quantity, for emptyDir and memory.
	SizeLimit string `yaml:"sizeLimit" json:"sizeLimit,omitempty"`
	// Afterlife is how long the data of a scratch storage outlives its pod, a duration
	// such as 6h or 90m, and never longer than that of the node, which holds if it is
	// left out.
	Afterlife string `yaml:"afterlife" json:"afterlife,omitempty"`
	// ExistingClaim is a volume claim of the namespace to mount instead of making
	// one, for local and shared.
	ExistingClaim string `yaml:"existingClaim" json:"existingClaim,omitempty"`
	// FsOwnerUID is the user ID that the directory is given to before the
	// workspace starts.
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

// Scratch are the names of the scratch storages that are switched on, in order.
func (b Blueprint) Scratch() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(b.Storages)) {
		if s := b.Storages[name]; s.On() && s.Type == StorageScratch {
			names = append(names, name)
		}
	}
	return names
}
