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
// their names. Only the claims of local storages are the release's.
func storages(spec Spec) []any {
	u, all, out := spec.User, spec.Blueprint.Storages, []any{}
	id := u.ID()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s := all[name]
		if !s.On() {
			continue
		}
		value := map[string]any{
			"name": name, "volume": kube.Name(volumePrefix, name), "type": s.Type, "path": s.Path,
			"readonly": s.Readonly, "owner": cmp.Or(owner(s.FsOwnerUID, s.FsOwnerGID), agentOwner(spec, s)), "sizeLimit": s.SizeLimit,
			"claim": claimOf(id, name, s),
		}
		if s.Type == blueprint.StorageLocal && s.ExistingClaim == "" {
			value["claimSpec"] = s.ClaimSpec
			value["annotations"] = s.ClaimSpecAnnotations
		}
		if s.Type == blueprint.StorageScratch {
			value["driver"], value["attributes"] = volume.DriverName, attributes(u, name, s)
		}
		out = append(out, value)
	}
	return out
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
	for _, name := range slices.Sorted(maps.Keys(s.Blueprint.Storages)) {
		storage := s.Blueprint.Storages[name]
		if !storage.On() || storage.Type != blueprint.StorageShared || storage.ExistingClaim != "" ||
			len(storage.ClaimSpec) == 0 {
			continue
		}
		claim := kube.Named("PersistentVolumeClaim", claimOf("", name, storage))
		claim.SetAnnotations(storage.ClaimSpecAnnotations)
		claim.Object["spec"] = jsonValue(storage.ClaimSpec)
		claims = append(claims, apply.Wanted{Object: claim})
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
