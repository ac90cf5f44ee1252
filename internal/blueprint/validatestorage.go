package blueprint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func validateStorages(report reporter, all map[string]Storage) {
	paths := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s, field := all[name], "storages."+name
		validateStorage(report, field, name, s)
		if !s.On() || s.Path == "" {
			continue
		}
		if first, twice := paths[s.Path]; twice {
			report("%s.path: duplicate path %q (also that of storage %s)", field, s.Path, first)
		}
		paths[s.Path] = name
	}
}

func validateStorage(report reporter, field, name string, s Storage) {
	ifGiven(report, field, name, validation.IsDNS1123Label)
	oneOf(report, field+".type", s.Type, StorageLocal, StorageShared, StorageEmptyDir, StorageMemory)
	validatePath(report, field+".path", s.Path)
	if s.SizeLimit != "" && s.Claimed() {
		report("%s.sizeLimit: only allowed with types emptyDir and memory; a claim has claimSpec.resources", field)
	}
	quantity(report, field+".sizeLimit", s.SizeLimit, maxSize)
	ifGiven(report, field+".id", s.ID, validation.IsDNS1123Label)
	if s.ID != "" && s.Type != StorageShared {
		report("%s.id: only allowed with type shared", field)
	}
	userID(report, field+".fsOwnerUid", s.FsOwnerUID)
	userID(report, field+".fsOwnerGid", s.FsOwnerGID)
	validateClaim(report, field, s)
}

func validateClaim(report reporter, field string, s Storage) {
	ifGiven(report, field+".existingClaim", s.ExistingClaim, validation.IsDNS1123Subdomain)
	switch {
	case !s.Claimed() && len(s.ClaimSpec) > 0:
		report("%s.claimSpec: only allowed with types local and shared", field)
	case !s.Claimed() && s.ExistingClaim != "":
		report("%s.existingClaim: only allowed with types local and shared", field)
	case len(s.ClaimSpec) > 0 && s.ExistingClaim != "":
		report("%s.existingClaim: claimSpec and existingClaim are mutually exclusive", field)
	case s.Claimed() && len(s.ClaimSpec) == 0 && s.ExistingClaim == "":
		report("%s.claimSpec: required with type %s, unless existingClaim is given", field, s.Type)
	case len(s.ClaimSpec) > 0:
		validateClaimSpec(report, field+".claimSpec", s.ClaimSpec)
	}
	if len(s.ClaimSpecAnnotations) > 0 && len(s.ClaimSpec) == 0 {
		report("%s.claimSpecAnnotations: requires claimSpec", field)
	}
	for _, name := range slices.Sorted(maps.Keys(s.ClaimSpecAnnotations)) {
		// Kubernetes validates them in lower case.
		reportAll(report, fmt.Sprintf("%s.claimSpecAnnotations: %q", field, name), validation.IsQualifiedName(strings.ToLower(name)))
	}
}

// validateClaimSpec requires what the API server requires of a claim.
func validateClaimSpec(report reporter, field string, written map[string]any) {
	var spec corev1.PersistentVolumeClaimSpec
	if !quantities(report, field+".resources", written["resources"]) || !structured(report, field, written, &spec) {
		return
	}
	if len(spec.AccessModes) == 0 {
		report("%s.accessModes: required", field)
	}
	for _, mode := range spec.AccessModes {
		oneOf(report, field+".accessModes", string(mode), "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")
	}
	if size, ok := spec.Resources.Requests[corev1.ResourceStorage]; !ok || size.Sign() <= 0 {
		report("%s.resources.requests.storage: required: a size such as 10Gi", field)
	}
	if spec.VolumeMode != nil && *spec.VolumeMode != corev1.PersistentVolumeFilesystem {
		report("%s.volumeMode: %q: must be Filesystem", field, *spec.VolumeMode)
	}
}
