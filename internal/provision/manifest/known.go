package manifest

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
)

// OfPod are the objects of a workspace of which only the pod is known: their
// names follow from its ID.
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
			certificate := kube.Named("Certificate", id)
			certificate.SetAPIVersion(CertManager)
			objects = append(objects, certificate)
		}
		// Only what carries the name that the storage's claim has by convention:
		// others are shared, or were there before.
		storage, ok := strings.CutPrefix(volume.Name, "storage-")
		if claim := volume.PersistentVolumeClaim; ok && claim != nil && claim.ClaimName == claimName(id, storage) {
			objects = append(objects, kube.Named("PersistentVolumeClaim", claim.ClaimName))
		}
	}
	return objects
}

// Certified are the Secrets of the certificates among the objects.
func Certified(objects []*unstructured.Unstructured) (secrets []*unstructured.Unstructured) {
	for _, object := range objects {
		if object.GetKind() == "Certificate" {
			secrets = append(secrets, kube.Named("Secret", kube.CertificateSecret(object.GetName())))
		}
	}
	return secrets
}
