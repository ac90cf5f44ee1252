package kube

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	v1 "github.com/berthdev/berth/api/v1"
)

// The labels and annotations of workspaces, also of those that other programs of
// this system have created.
const (
	LabelAgentVersion  = "k8shell.io/k8shelld-version"
	LabelBlueprint     = "k8shell.io/blueprint"
	LabelCanonicalID   = "k8shell.io/canonical-id"
	LabelJobID         = "k8shell.io/job-id"
	LabelNetworkPolicy = "k8shell.io/network-policy"
	LabelOrganization  = "k8shell.io/organization"
	LabelSubdomain     = "k8shell.io/subdomain"
	LabelUsername      = "k8shell.io/username"
	LabelInjected      = "k8shell.io/injected"
	LabelWorkloadKind  = "k8shell.io/workload-kind"
	LabelWorkloadName  = "k8shell.io/workload-name"

	AnnotationIdentity     = "k8shell.io/identity"
	AnnotationManifestHash = "k8shell.io/manifest-hash"
	AnnotationUserString   = "k8shell.io/userstr"
	AnnotationInjection    = "k8shell.io/injection" // on the workload

	// AnnotationUser is the whole name by which the API server knows a workspace's user, in
	// base64. Workspaces from before several callers could not be one user have none.
	AnnotationUser = "berth.dev/user"

	// AnnotationLock says under which lock an object was written last.
	AnnotationLock = "berth.dev/lock"
	// AnnotationApplied is the digest of what was wanted of an object when it was
	// written last.
	AnnotationApplied = "berth.dev/applied"

	// AnnotationStrictScripts is true on a pod in which an init script that fails is a
	// failure of the workspace.
	AnnotationStrictScripts = "berth.dev/strict-scripts"

	// LabelKept is true on a claim that has outlived its workspace on request.
	LabelKept = "berth.dev/kept"

	// StopRequested is true on a pod that is being stopped, not deleted. It may be
	// a label or an annotation.
	StopRequested = "k8shell.io/stop-requested"
)

// Group is the API group of what only berth knows: workspaces, in permissions.
const Group = "berth.dev"

// FieldManager is the name under which berth owns fields of objects.
const FieldManager = "berth"

// MainContainer is the name of the main container of a workspace's pod. An injected
// one has the canonical ID in front.
func MainContainer(labels map[string]string) string {
	if labels[LabelInjected] == "true" {
		return Name(labels[LabelCanonicalID], v1.MainContainer)
	}
	return v1.MainContainer
}

const maxName = 63

// LabelValue makes a valid label value of any text. One that had to be changed or
// cut ends in a hash, so that different texts have different values.
func LabelValue(text string) string {
	legal := strings.Trim(illegal.ReplaceAllString(text, "-"), "-_.")
	if legal == text && len(text) <= maxName {
		return text
	}
	return withHash(legal, text)
}

// CertificateSecret is the Secret with the certificate of a workspace, which cert-manager
// makes.
func CertificateSecret(id string) string { return Name(id, "tls") }

// Name joins parts to the name of an object, and cuts it to 63 characters if it is
// longer. The parts must be valid in a name.
func Name(parts ...string) string {
	name := strings.Join(parts, "-")
	if len(name) <= maxName {
		return name
	}
	return withHash(name, name)
}

var illegal = regexp.MustCompile(`[^A-Za-z0-9_.-]`)

func withHash(legal, original string) string {
	sum := sha256.Sum256([]byte(original))
	suffix := hex.EncodeToString(sum[:])[:7]
	if room := maxName - len(suffix) - 1; len(legal) > room {
		legal = legal[:room]
	}
	return strings.Trim(strings.TrimRight(legal, "-_.")+"-"+suffix, "-")
}
