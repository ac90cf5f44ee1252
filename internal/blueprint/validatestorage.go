package blueprint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

func validateStorages(report, relate reporter, all map[string]Storage) {
	paths := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s, field := all[name], "storages."+name
		validateStorage(report, relate, field, name, s)
		if !s.On() || s.Path == "" {
			continue
		}
		if first, twice := paths[s.Path]; twice {
			relate("%s.path: duplicate path %q (also that of storage %s)", field, s.Path, first)
		}
		paths[s.Path] = name
	}
}

func validateStorage(report, relate reporter, field, name string, s Storage) {
	ifGiven(report, field, name, validation.IsDNS1123Label)
	oneOf(ifWritten(s.Type, report, relate), field+".type", s.Type, StorageLocal, StorageShared, StorageEmptyDir,
		StorageMemory, StorageScratch)
	validatePath(ifWritten(s.Path, report, relate), field+".path", s.Path)
	switch {
	case s.SizeLimit != "" && s.Claimed():
		relate("%s.sizeLimit: only allowed with types emptyDir and memory; a claim has claimSpec.resources", field)
	case s.SizeLimit != "" && s.Type == StorageScratch:
		relate("%s.sizeLimit: not available with type scratch: no quota would keep the storage within it; leave it out, or use emptyDir", field)
	}
	quantity(report, field+".sizeLimit", s.SizeLimit, disk())
	validateAfterlife(report, relate, field+".afterlife", s)
	ifGiven(report, field+".id", s.ID, validation.IsDNS1123Label)
	if s.ID != "" && s.Type != StorageShared {
		relate("%s.id: only allowed with type shared", field)
	}
	userID(report, field+".fsOwnerUid", s.FsOwnerUID)
	userID(report, field+".fsOwnerGid", s.FsOwnerGID)
	validateClaim(report, relate, field, s)
}

// ifWritten is how a problem of a value is reported that may be missing.
func ifWritten(value string, report, relate reporter) reporter {
	if value == "" {
		return relate
	}
	return report
}

// validateAfterlife requires a duration as Go writes them, which is what the driver
// reads.
func validateAfterlife(report, relate reporter, field string, s Storage) {
	if s.Afterlife == "" {
		return
	}
	if s.Type != StorageScratch {
		relate("%s: only allowed with type scratch", field)
	}
	switch lasts, err := time.ParseDuration(s.Afterlife); {
	case err != nil:
		report("%s: invalid duration %q: use one such as 6h, 90m, 1h30m", field, shorten(s.Afterlife))
	case lasts <= 0:
		report("%s: %q must be longer than 0", field, shorten(s.Afterlife))
	}
}

func validateClaim(report, relate reporter, field string, s Storage) {
	ifGiven(report, field+".existingClaim", s.ExistingClaim, validation.IsDNS1123Subdomain)
	switch {
	case !s.Claimed() && len(s.ClaimSpec) > 0:
		relate("%s.claimSpec: only allowed with types local and shared", field)
	case !s.Claimed() && s.ExistingClaim != "":
		relate("%s.existingClaim: only allowed with types local and shared", field)
	case len(s.ClaimSpec) > 0 && s.ExistingClaim != "":
		relate("%s.existingClaim: claimSpec and existingClaim are mutually exclusive", field)
	case s.Claimed() && len(s.ClaimSpec) == 0 && s.ExistingClaim == "":
		relate("%s.claimSpec: required with type %s, unless existingClaim is given", field, s.Type)
	case len(s.ClaimSpec) > 0:
		validateClaimSpec(report, relate, field+".claimSpec", s.ClaimSpec)
	}
	if len(s.ClaimSpecAnnotations) > 0 && len(s.ClaimSpec) == 0 {
		relate("%s.claimSpecAnnotations: requires claimSpec", field)
	}
	for _, name := range slices.Sorted(maps.Keys(s.ClaimSpecAnnotations)) {
		// Kubernetes validates them in lower case.
		reportAll(report, fmt.Sprintf("%s.claimSpecAnnotations: %q", field, name),
			validation.IsQualifiedName(strings.ToLower(name)))
	}
}

// validateClaimSpec requires what the API server requires of a claim.
func validateClaimSpec(report, relate reporter, field string, written map[string]any) {
	var spec corev1.PersistentVolumeClaimSpec
	if !quantities(report, field+".resources", written["resources"]) || !structured(report, field, written, &spec) {
		return
	}
	if len(spec.AccessModes) == 0 {
		relate("%s.accessModes: required", field)
	}
	for _, mode := range spec.AccessModes {
		oneOf(report, field+".accessModes", string(mode), "ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany",
			"ReadWriteOncePod")
	}
	size, ok := spec.Resources.Requests[corev1.ResourceStorage]
	if !ok || size.Sign() <= 0 {
		relate("%s.resources.requests.storage: required: a size such as 10Gi", field)
	}
	if limit, ok := spec.Resources.Limits[corev1.ResourceStorage]; ok && size.Cmp(limit) > 0 {
		relate("%s.resources.limits.storage: %q is less than what is requested, %q", field, &limit, &size)
	}
	if spec.VolumeMode != nil && *spec.VolumeMode != corev1.PersistentVolumeFilesystem {
		report("%s.volumeMode: %q: must be Filesystem", field, *spec.VolumeMode)
	}
}
