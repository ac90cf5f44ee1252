package kube

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

// The labels and annotations of workspaces, also of those that other programs of this system have created.
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

	// LabelApp is what k8shell's own pods are known by, such as its proxy and API server.
	LabelApp = "k8shell.io/app"

	AnnotationIdentity     = "k8shell.io/identity"
	AnnotationManifestHash = "k8shell.io/manifest-hash"
	AnnotationUserString   = "k8shell.io/userstr"
	AnnotationInjection    = "k8shell.io/injection" // on the workload

	// AnnotationUser is the whole name by which the API server knows a workspace's user, in base64. Workspaces from
	// before several callers could not be one user have none.
	AnnotationUser = "berth.dev/user"

	// AnnotationLock says under which lock an object was written last.
	AnnotationLock = "berth.dev/lock"
	// AnnotationApplied is the digest of what was wanted of an object when it was written last.
	AnnotationApplied = "berth.dev/applied"
	// AnnotationCertificate is on what has to do with a certificate that berth makes: what trusts its CA, and what
	// serves with it. It is the Secret, as NAMESPACE/NAME.
	AnnotationCertificate = "berth.dev/certificate-from"

	// AnnotationStrictScripts is true on a pod in which an init script that fails is a failure of the workspace.
	AnnotationStrictScripts = "berth.dev/strict-scripts"

	// LabelKept is true on a claim that has outlived its workspace on request.
	LabelKept = "berth.dev/kept"

	// StopRequested is true on a pod that is being stopped, not deleted. It may be a label or an annotation.
	StopRequested = "k8shell.io/stop-requested"
)

// What an agent is, in every workspace that has one.
const (
	AgentProgram = "/usr/local/bin/k8shelld"
	AgentPort    = 2822
	// NoVersion is the version of an agent that says none, and of a workspace without one.
	NoVersion = "1.0.0"
)

// Group is the API group of what only berth knows: workspaces, in permissions.
const Group = "berth.dev"

// FieldManager is the name under which berth owns fields of objects.
const FieldManager = "berth"

// IDOf is the canonical ID of the workspace that a pod carries, or else its name.
func IDOf(pod *metav1.ObjectMeta) string {
	return cmp.Or(pod.Labels[LabelCanonicalID], pod.Name)
}

// IsOfWorkspace reports whether a pod is one of the workspace whose labels it carries, which everybody may give to the
// pods that they make: the pod of a workspace has its name, and one that a workspace is injected into is controlled by
// its workload.
func IsOfWorkspace(pod *metav1.ObjectMeta) bool {
	if pod.Labels[LabelInjected] != "true" {
		return pod.Labels[LabelCanonicalID] == LabelValue(pod.Name)
	}
	owner, kind := metav1.GetControllerOfNoCopy(pod), pod.Labels[LabelWorkloadKind]
	if owner == nil {
		return false
	}
	name := owner.Name
	if owner.Kind == "ReplicaSet" {
		var ok bool
		if name, ok = strings.CutSuffix(name, "-"+pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey]); !ok {
			return false
		}
		return strings.EqualFold(kind, "deployment") && LabelValue(name) == pod.Labels[LabelWorkloadName]
	}
	return strings.EqualFold(kind, owner.Kind) && LabelValue(name) == pod.Labels[LabelWorkloadName]
}

// MainContainer is the name of the main container of a workspace's pod. An injected one has the canonical ID in front.
func MainContainer(labels map[string]string) string {
	if labels[LabelInjected] == "true" {
		return Name(labels[LabelCanonicalID], v1.MainContainer)
	}
	return v1.MainContainer
}

// CertificateSecret is the Secret with the certificate of a workspace, which cert-manager makes.
func CertificateSecret(id string) string { return Name(id, "tls") }

// Command is a command of berth for a workspace, as a hint proposes it, wherever the current namespace is.
func Command(verb, id, namespace string, args ...string) string {
	return fault.Command(append([]string{"berth", verb, "id/" + id, "--namespace", namespace}, args...)...)
}

const maxName = 63

// LabelValue makes a valid label value of any text. One that had to be changed or cut ends in a hash, so that different
// texts have different values.
func LabelValue(text string) string {
	legal := strings.Trim(illegal.ReplaceAllString(text, "-"), "-_.")
	if legal == text && len(text) <= maxName {
		return text
	}
	return withHash(legal, text)
}

// Name joins parts to the name of an object, and cuts it to 63 characters if it is longer. The parts must be valid in a
// name.
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

// Condition is a condition of a pod; nil if the pod does not have it.
func Condition(pod *corev1.Pod, kind corev1.PodConditionType) *corev1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

// IsReady says whether a pod's Ready condition is true.
func IsReady(pod *corev1.Pod) bool {
	c := Condition(pod, corev1.PodReady)
	return c != nil && c.Status == corev1.ConditionTrue
}

// HasEnded is true for a pod of which no container starts any more.
func HasEnded(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}
