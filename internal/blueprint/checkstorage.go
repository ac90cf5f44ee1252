package blueprint

import (
	"maps"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func checkStorages(say sayer, all map[string]Storage) {
	paths := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s, field := all[name], "storages."+name
		checkStorage(say, field, name, s)
		if !s.On() || s.Path == "" {
			continue
		}
		if first, twice := paths[s.Path]; twice {
			say("%s.path: duplicate path %q (also that of storage %s)", field, s.Path, first)
		}
		paths[s.Path] = name
	}
}

func checkStorage(say sayer, field, name string, s Storage) {
	ifGiven(say, field, name, validation.IsDNS1123Label)
	oneOf(say, field+".type", s.Type, StorageLocal, StorageShared, StorageEmptyDir, StorageMemory)
	checkPath(say, field+".path", s.Path)
	if s.SizeLimit != "" && s.Claimed() {
		say("%s.sizeLimit: only allowed with types emptyDir and memory; a claim has claimSpec.resources", field)
	}
	quantity(say, field+".sizeLimit", s.SizeLimit)
	ifGiven(say, field+".id", s.ID, validation.IsDNS1123Label)
	if s.ID != "" && s.Type != StorageShared {
		say("%s.id: only allowed with type shared", field)
	}
	userID(say, field+".fsOwnerUid", s.FsOwnerUID)
	userID(say, field+".fsOwnerGid", s.FsOwnerGID)
	checkClaim(say, field, s)
}

func userID(say sayer, field string, id *int64) {
	if id != nil && (*id < 0 || *id > math.MaxInt32) {
		say("%s: %d: must be from 0 to %d", field, *id, math.MaxInt32)
	}
}

func checkClaim(say sayer, field string, s Storage) {
	ifGiven(say, field+".existingClaim", s.ExistingClaim, validation.IsDNS1123Subdomain)
	switch {
	case !s.Claimed() && len(s.ClaimSpec) > 0:
		say("%s.claimSpec: only allowed with types local and shared", field)
	case !s.Claimed() && s.ExistingClaim != "":
		say("%s.existingClaim: only allowed with types local and shared", field)
	case len(s.ClaimSpec) > 0 && s.ExistingClaim != "":
		say("%s.existingClaim: claimSpec and existingClaim are mutually exclusive", field)
	case s.Claimed() && len(s.ClaimSpec) == 0 && s.ExistingClaim == "":
		say("%s.claimSpec: required with type %s, unless existingClaim is given", field, s.Type)
	case len(s.ClaimSpec) > 0:
		checkClaimSpec(say, field+".claimSpec", s.ClaimSpec)
	}
	if len(s.ClaimSpecAnnotations) > 0 && len(s.ClaimSpec) == 0 {
		say("%s.claimSpecAnnotations: requires claimSpec", field)
	}
	for _, name := range slices.Sorted(maps.Keys(s.ClaimSpecAnnotations)) {
		// Kubernetes lowers them before it looks.
		for _, what := range validation.IsQualifiedName(strings.ToLower(name)) {
			say("%s.claimSpecAnnotations: %q: %s", field, name, what)
		}
	}
}

// checkClaimSpec wants what the API server takes for a claim.
func checkClaimSpec(say sayer, field string, written map[string]any) {
	var spec corev1.PersistentVolumeClaimSpec
	if !structured(say, field, written, &spec) {
		return
	}
	if len(spec.AccessModes) == 0 {
		say("%s.accessModes: required", field)
	}
	for _, mode := range spec.AccessModes {
		oneOf(say, field+".accessModes", string(mode), "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
	}
	if size, ok := spec.Resources.Requests[corev1.ResourceStorage]; !ok || size.Sign() <= 0 {
		say("%s.resources.requests.storage: required: a size such as 10Gi", field)
	}
	if spec.VolumeMode != nil && *spec.VolumeMode != corev1.PersistentVolumeFilesystem {
		say("%s.volumeMode: %q: must be Filesystem", field, *spec.VolumeMode)
	}
}
