package blueprint

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/pattern"
)

func validateNetwork(report reporter, n Network) {
	if n.NetworkPolicyClass != "" {
		oneOf(report, "network.networkPolicyClass", n.NetworkPolicyClass,
			NetworkWorkspace, NetworkSystem, NetworkIsolated, NetworkUser, NetworkOrganization)
	}
	for i, cidr := range n.AllowEgressToCIDRs {
		if _, err := netip.ParsePrefix(cidr); err != nil {
			report("network.allowEgressToCIDRs[%d]: invalid CIDR %q: use one such as 10.0.0.0/8, 2001:db8::/32", i,
				shorten(cidr))
		}
	}
	for i, pods := range n.AllowEgressToPods {
		field := fmt.Sprintf("network.allowEgressToPods[%d]", i)
		if pods.Namespace != AnyNamespace {
			ifGiven(report, field+".namespace", pods.Namespace, validation.IsDNS1123Label)
		}
		if len(pods.Labels) == 0 {
			report("%s.labels: required: no labels would select every pod", field)
		}
		for _, name := range slices.Sorted(maps.Keys(pods.Labels)) {
			problems := slices.Concat(validation.IsQualifiedName(name), validation.IsValidLabelValue(pods.Labels[name]))
			reportAll(report, fmt.Sprintf("%s.labels: %q", field, name), problems)
		}
	}
}

func validateResources(report reporter, field string, r Resources) {
	quantity(report, field+".cpu", r.CPU, cpu())
	quantity(report, field+".memory", r.Memory, memory())
}

// validateAgent requires the security context that the agent needs: it starts as root, switches to the user and writes
// to the image's file system.
func validateAgent(report, relate reporter, b Blueprint) {
	imageName(report, "k8shelld.image", b.K8shelld.Image)
	pullPolicy(report, "k8shelld.imagePullPolicy", b.K8shelld.ImagePullPolicy)
	validateOrphans(report, b.K8shelld.IgnoreOrphans)
	for _, name := range []string{"allowAnyNS", "allowAnySA"} {
		isBool(report, "k8shelld.connection."+name, b.K8shelld.Connection[name])
	}
	var c corev1.SecurityContext
	if !structured(report, "securityContext", b.SecurityContext, &c) {
		return
	}
	validateSecurity(report, "securityContext", c)
	if b.K8shelld.Image == "" {
		return
	}
	if b.StrictScripts {
		relate("strictScripts: must not be true: the agent runs the init scripts, and what becomes of " +
			"them cannot be seen")
	}
	if c.RunAsUser != nil && *c.RunAsUser != 0 {
		relate("securityContext.runAsUser: must be 0, not %d: the agent starts as root", *c.RunAsUser)
	}
	if c.RunAsNonRoot != nil && *c.RunAsNonRoot {
		relate("securityContext.runAsNonRoot: must not be true: the agent starts as root")
	}
	if c.ReadOnlyRootFilesystem != nil && *c.ReadOnlyRootFilesystem {
		relate("securityContext.readOnlyRootFilesystem: must not be true: the agent writes to it")
	}
	for _, needed := range []string{"CHOWN", "SETUID", "SETGID"} {
		if drops(c.Capabilities, needed) {
			relate("securityContext.capabilities.drop: must not drop %s, which the agent requires", needed)
		}
	}
}

// drops reports whether a container does not have a capability of the default set.
func drops(c *corev1.Capabilities, name string) bool {
	return c != nil && (has(c.Drop, name) || has(c.Drop, "ALL") && !has(c.Add, name) && !has(c.Add, "ALL"))
}

// has looks for a capability as container runtimes read it: in any case, with or without CAP_.
func has(all []corev1.Capability, name string) bool {
	return slices.ContainsFunc(all, func(c corev1.Capability) bool {
		return strings.TrimPrefix(strings.ToUpper(string(c)), "CAP_") == name
	})
}

func validateScripts(report reporter, scripts []InitScript) {
	seen := map[string]bool{}
	for i, script := range scripts {
		field := fmt.Sprintf("initScripts[%d]", i)
		scriptName(report, field+".name", script.Name)
		if seen[script.Name] {
			report("%s.name: duplicate name %q", field, script.Name)
		}
		seen[script.Name] = true
		if strings.TrimSpace(script.Script) == "" {
			report("%s.script: required", field)
		}
	}
}

// The names of init scripts: as people name files, and as the keys of a ConfigMap and the names of flags can be. What
// begins with k8shell. is berth's own.
const fileName pattern.Expr = `^[A-Za-z0-9_][A-Za-z0-9_.-]*$`

const (
	maxScriptName = 63
	ownName       = "k8shell."
)

func scriptName(report reporter, field, name string) {
	switch {
	case name == "":
		report("%s: required", field)
	case utf8.RuneCountInString(name) > maxScriptName:
		report("%s: must have at most %d characters, has %d", field, maxScriptName, utf8.RuneCountInString(name))
	case !fileName.MatchString(name):
		report("%s: invalid name %q: use letters, digits, _, - and ., beginning with a letter, a digit or _", field,
			name)
	case strings.HasPrefix(name, ownName):
		report("%s: invalid name %q: names that begin with %s are berth's own", field, name, ownName)
	}
}

func validateStorages(report, relate reporter, prefix string, all map[string]Storage) {
	paths := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		s, field := all[name], prefix+name
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
		relate("%s.sizeLimit: not available with type scratch: no quota would keep the storage within it; leave it "+
			"out, or use emptyDir", field)
	}
	quantity(report, field+".sizeLimit", s.SizeLimit, disk())
	validateAfterlife(report, relate, field+".afterlife", s)
	ifGiven(report, field+".driver", s.Driver, driverName)
	if s.Driver != "" && s.Type != StorageScratch {
		relate("%s.driver: only allowed with type scratch", field)
	}
	ifGiven(report, field+".id", s.ID, validation.IsDNS1123Label)
	if s.ID != "" && s.Type != StorageShared {
		relate("%s.id: only allowed with type shared", field)
	}
	userID(report, field+".fsOwnerUid", s.FsOwnerUID)
	userID(report, field+".fsOwnerGid", s.FsOwnerGID)
	validateClaim(report, relate, field, s)
}

// driverName finds what is wrong with the name of a CSI driver.
func driverName(name string) []string {
	const longest = 63
	if len(name) > longest {
		return []string{validation.MaxLenError(longest)}
	}
	return validation.IsDNS1123Subdomain(name)
}

// ifWritten is how a problem of a value is reported that may be missing.
func ifWritten(value string, report, relate reporter) reporter {
	if value == "" {
		return relate
	}
	return report
}

// validateAfterlife requires a duration as Go writes them, which is what the driver reads.
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
