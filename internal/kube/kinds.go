package kube

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is how a kind is addressed in the API.
type Resource struct {
	schema.GroupVersionResource
	Namespaced bool
}

// ResourceOf is the resource of a kind that berth knows. The table is static, so
// that no discovery is needed on the way to a workspace.
func ResourceOf(kind schema.GroupVersionKind) (Resource, bool) {
	namespaced, known := knownKinds()[kind.GroupKind()]
	if !known {
		return Resource{}, false
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind) // which is right for all of them
	return Resource{GroupVersionResource: plural, Namespaced: namespaced}, true
}

// Object is what a call is about, as kind/name; if the kind is not known,
// resource/name, which kubectl understands as well.
func (c Call) Object() string {
	for known := range knownKinds() {
		plural, _ := meta.UnsafeGuessKindToResource(known.WithVersion(""))
		if plural.GroupResource().String() == c.Resource {
			return Object(known.Kind, c.Name)
		}
	}
	return Object(c.Resource, c.Name)
}

// IsWorkload is true for the kinds that run pods.
func IsWorkload(kind schema.GroupVersionKind) bool {
	switch kind.GroupKind().String() {
	case "Pod", "ReplicationController", "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps",
		"Job.batch", "CronJob.batch":
		return true
	}
	return false
}

// knownKinds are the kinds that berth knows, and whether their objects are in
// namespaces.
func knownKinds() map[schema.GroupKind]bool {
	known := map[schema.GroupKind]bool{}
	add := func(namespaced bool, group string, kinds ...string) {
		for _, kind := range kinds {
			known[schema.GroupKind{Group: group, Kind: kind}] = namespaced
		}
	}
	add(true, "", "ConfigMap", "Endpoints", "LimitRange", "PersistentVolumeClaim", "Pod", "ReplicationController",
		"ResourceQuota", "Secret", "Service", "ServiceAccount")
	add(true, "apps", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
	add(true, "autoscaling", "HorizontalPodAutoscaler")
	add(true, "batch", "CronJob", "Job")
	add(true, "cert-manager.io", "Certificate")
	add(true, "coordination.k8s.io", "Lease")
	add(true, "networking.k8s.io", "Ingress", "NetworkPolicy")
	add(true, "policy", "PodDisruptionBudget")
	add(true, "rbac.authorization.k8s.io", "Role", "RoleBinding")
	add(false, "", "Namespace", "PersistentVolume")
	add(false, "admissionregistration.k8s.io", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy",
		"ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration")
	add(false, "apiextensions.k8s.io", "CustomResourceDefinition")
	add(false, "apiregistration.k8s.io", "APIService")
	add(false, "networking.k8s.io", "IngressClass")
	add(false, "node.k8s.io", "RuntimeClass")
	add(false, "rbac.authorization.k8s.io", "ClusterRole", "ClusterRoleBinding")
	add(false, "scheduling.k8s.io", "PriorityClass")
	add(false, "storage.k8s.io", "CSIDriver", "StorageClass")
	return known
}
