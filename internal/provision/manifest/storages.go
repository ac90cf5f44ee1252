package manifest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/volume"
)

// storages are the chart's values of those that are switched on, in the order of
// their names, and then those of the podman sidecar. Only the claims of local storages are the release's.
func storages(spec Spec) []any {
	b, out := spec.Blueprint, []any{}
	for _, name := range slices.Sorted(maps.Keys(b.Storages)) {
		if s := b.Storages[name]; s.On() {
			out = append(out, storage(spec, name, name, s))
		}
	}
	for _, name := range sidecarStorages(b) {
		value := storage(spec, blueprint.PodmanStorage+name, name, b.Podman.Storages[name])
		value["sidecar"] = true
		out = append(out, value)
	}
	return out
}

// sidecarStorages are the names of the storages that the podman sidecar alone has.
func sidecarStorages(b blueprint.Blueprint) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(b.Podman.Storages)) {
		if b.Podman.Enabled && b.Podman.Storages[name].On() {
			names = append(names, name)
		}
	}
	return names
}

// podmanMounts are what the podman sidecar has of storages: some of the workspace's, and its own.
func podmanMounts(b blueprint.Blueprint) []any {
	mounts := []any{}
	mount := func(name string, s blueprint.Storage) {
		mounts = append(mounts, map[string]any{
			"volume": kube.Name(volumePrefix, name), "path": s.Path, "readonly": s.Readonly,
		})
	}
	for _, name := range b.Parents() {
		mount(name, b.Storages[name])
	}
	for _, name := range sidecarStorages(b) {
		mount(blueprint.PodmanStorage+name, b.Podman.Storages[name])
	}
	return mounts
}

// storage is the chart's value of one. A claim that workspaces share has the name that the blueprint has for it.
func storage(spec Spec, name, written string, s blueprint.Storage) map[string]any {
	u := spec.User
	value := map[string]any{
		"name": name, "volume": kube.Name(volumePrefix, name), "type": s.Type, "path": s.Path, "readonly": s.Readonly,
		"owner":     cmp.Or(owner(s.FsOwnerUID, s.FsOwnerGID), agentOwner(spec, s)),
		"sizeLimit": s.SizeLimit, "claim": claimOf(u.ID(), name, s),
	}
	if s.Type == blueprint.StorageShared {
		value["claim"] = claimOf(u.ID(), written, s)
	}
	if s.Type == blueprint.StorageLocal && s.ExistingClaim == "" {
		value["claimSpec"] = s.ClaimSpec
		value["annotations"] = s.ClaimSpecAnnotations
	}
	if s.Type == blueprint.StorageScratch {
		value["driver"] = cmp.Or(s.Driver, volume.DriverName)
		value["attributes"] = attributes(u, name, s)
	}
	return value
}

// attributes tell the driver of a scratch storage whose it is, and how long it is to be kept.
func attributes(u userstring.UserString, name string, s blueprint.Storage) map[string]any {
	all := map[string]any{
		volume.AttributeStorage: name, volume.AttributeWorkspace: u.ID(), volume.AttributeUserString: u.String(),
	}
	if s.Afterlife != "" {
		all[volume.AttributeAfterlife] = s.Afterlife
	}
	return all
}

// ScratchOf are the scratch storages that chart values have, by name, each with its CSI driver.
func ScratchOf(values map[string]any) map[string]string {
	drivers := map[string]string{}
	for _, s := range items(values, "storages") {
		name, _ := s["name"].(string)
		if driver, _ := s["driver"].(string); s["type"] == blueprint.StorageScratch && driver != "" {
			drivers[name] = driver
		}
	}
	return drivers
}

// ScratchOfPod is ScratchOf of what a pod, or the template of one, has of the workspace.
func ScratchOfPod(id string, pod map[string]any) map[string]string {
	drivers := map[string]string{}
	spec, _ := pod["spec"].(map[string]any)
	for _, v := range items(spec, "volumes") {
		storage, _ := at(v, "csi", "volumeAttributes", volume.AttributeStorage).(string)
		if driver, is := at(v, "csi", "driver").(string); is && at(v, "csi", "volumeAttributes",
			volume.AttributeWorkspace) == id {
			drivers[storage] = driver
		}
	}
	return drivers
}

// owner is what chown takes: 1000:1000, 1000, or :1000.
func owner(uid, gid *int64) (text string) {
	if uid != nil {
		text = strconv.FormatInt(*uid, 10)
	}
	if gid != nil {
		text += ":" + strconv.FormatInt(*gid, 10)
	}
	return text
}

// claimOf is the name of a storage's claim; empty if the storage is not a claim.
func claimOf(id, name string, s blueprint.Storage) string {
	switch {
	case !s.Claimed():
		return ""
	case s.ExistingClaim != "":
		return s.ExistingClaim
	case s.Type == blueprint.StorageShared:
		if s.ID == "" {
			return kube.Name("pvc", name)
		}
		return kube.Name("pvc", name, s.ID) // the ID tells storages of one name apart
	default:
		return claimName(id, name)
	}
}

// volumePrefix begins the name of a storage's volume in the pod.
const volumePrefix = "storage"

func claimName(id, storage string) string { return kube.Name("pvc", id, storage) }

// SharedClaims are the claims of shared storages. They belong to no release, since
// they outlive all the workspaces that use them.
func (s Spec) SharedClaims() (claims []apply.Wanted) {
	made := map[string]bool{}
	add := func(name string, storage blueprint.Storage) {
		object := claimOf("", name, storage)
		if !storage.On() || storage.Type != blueprint.StorageShared || storage.ExistingClaim != "" ||
			len(storage.ClaimSpec) == 0 || made[object] {
			return
		}
		made[object] = true
		claim := kube.Named("PersistentVolumeClaim", object)
		claim.SetAnnotations(storage.ClaimSpecAnnotations)
		claim.Object["spec"] = jsonValue(storage.ClaimSpec)
		claims = append(claims, apply.Wanted{Object: claim})
	}
	for _, name := range slices.Sorted(maps.Keys(s.Blueprint.Storages)) {
		add(name, s.Blueprint.Storages[name])
	}
	for _, name := range sidecarStorages(s.Blueprint) {
		add(name, s.Blueprint.Podman.Storages[name])
	}
	return claims
}

// StorageNamed is the name of the storage that a claim of a workspace is named after;
// that of the claim if it is not named after any.
func StorageNamed(id, claim string) string {
	if name, ok := strings.CutPrefix(claim, claimName(id, "")); ok {
		return name
	}
	return claim
}
