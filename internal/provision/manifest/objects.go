package manifest

import (
	"encoding/base64"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/registry"
)

// Shared are the objects that a namespace has once, whatever the number of its
// workspaces. They are created if they do not exist, and never deleted.
func (s Spec) Shared() (wanted []apply.Wanted) {
	if s.Access.Registry != nil {
		wanted = append(wanted, apply.Wanted{
			Object: registry.PullSecret(*s.Access.Registry),
			Merge:  registry.MergePullSecret,
		})
	}
	if s.Blueprint.Subdomain != "" {
		wanted = append(wanted, apply.Wanted{Object: headlessService(s.Blueprint.Subdomain)})
	}
	return append(wanted, s.SharedClaims()...)
}

// headlessService gives workspaces the names <id>.<subdomain>.<namespace>.svc.
func headlessService(subdomain string) *unstructured.Unstructured {
	service := kube.Named("Service", subdomain)
	service.Object["spec"] = map[string]any{
		"clusterIP": "None",
		"selector":  map[string]any{kube.LabelSubdomain: kube.LabelValue(subdomain)},
	}
	return service
}

// Private are objects of the workspace that must not be in Helm's record: the
// credentials that its repository is cloned with.
func (s Spec) Private() []*unstructured.Unstructured {
	credentials, ok := s.credentials()
	if !ok {
		return nil
	}
	object := kube.Named("Secret", GitSecret(s.User.ID()))
	object.SetLabels(podLabels(s))
	object.Object["type"] = "kubernetes.io/basic-auth"
	encode := func(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }
	object.Object["data"] = map[string]any{
		"username": encode(credentials.Username), "password": encode(credentials.Password.Reveal()),
	}
	return []*unstructured.Unstructured{object}
}

// OfPod are the objects of a workspace of which only the pod is known: their names follow from its ID.
func OfPod(pod *corev1.Pod) []*unstructured.Unstructured {
	id := pod.Name
	objects := []*unstructured.Unstructured{kube.Named("Pod", id), kube.Named("Service", id)}
	for _, name := range configMapNames(id) {
		objects = append(objects, kube.Named("ConfigMap", name))
	}
	if class := pod.Labels[kube.LabelNetworkPolicy]; class != "" {
		policy := kube.Named("NetworkPolicy", policyName(id, class))
		policy.SetAPIVersion("networking.k8s.io/v1")
		objects = append(objects, policy)
	}
	for _, volume := range pod.Spec.Volumes {
		if secret := volume.Secret; secret != nil && secret.SecretName == kube.CertificateSecret(id) {
			for _, name := range certificateNames(id) {
				certificate := kube.Named("Certificate", name)
				certificate.SetAPIVersion(CertManager)
				objects = append(objects, certificate)
			}
		}
		if secret := volume.Secret; secret != nil && secret.SecretName == PATSecret(id) {
			objects = append(objects, kube.Named("Secret", secret.SecretName))
		}
		if claim := volume.PersistentVolumeClaim; claim != nil && isOwn(id, volume.Name, claim.ClaimName) {
			objects = append(objects, kube.Named("PersistentVolumeClaim", claim.ClaimName))
		}
	}
	return objects
}

// isOwn reports whether a volume's claim carries the name that a storage's claim has by
// convention: others are shared, or were there before. The name of a storage that had to be cut
// for its volume is not known any more, but how the claim's begins.
func isOwn(id, volume, claim string) bool {
	storage, ok := strings.CutPrefix(volume, volumePrefix+"-")
	wasCut := len(volume) == validation.DNS1123LabelMaxLength
	return ok && (claim == claimName(id, storage) || wasCut && strings.HasPrefix(claim, claimName(id, "")))
}

// Certified is the Secret of a workspace's certificate, if that is among the objects.
func Certified(id string, objects []*unstructured.Unstructured) []*unstructured.Unstructured {
	for _, object := range objects {
		if object.GetKind() == "Certificate" && IsCertificate(id, object.GetName()) {
			return []*unstructured.Unstructured{kube.Named("Secret", kube.CertificateSecret(id))}
		}
	}
	return nil
}

// IsCertificate reports whether a name is that of the Certificate of a workspace.
func IsCertificate(id, name string) bool { return slices.Contains(certificateNames(id), name) }
