package kube

import (
	"strings"

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
	for _, k := range knownKinds() {
		if k.group == kind.Group && k.kind == kind.Kind {
			return Resource{GroupVersionResource: kind.GroupVersion().WithResource(k.plural), Namespaced: !k.cluster}, true
		}
	}
	return Resource{}, false
}

// Object is what a call is about, as kind/name; if the kind is not known,
// resource/name, which kubectl understands as well.
func (c Call) Object() string {
	for _, k := range knownKinds() {
		if (schema.GroupResource{Group: k.group, Resource: k.plural}).String() == c.Resource {
			return Object(strings.ToLower(k.kind), c.Name)
		}
	}
	return Object(c.Resource, c.Name)
}

// IsWorkload is true for the kinds that run pods.
func IsWorkload(kind schema.GroupVersionKind) bool {
	switch kind.GroupKind().String() {
	case "Pod", "ReplicationController", "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch", "CronJob.batch":
		return true
	}
	return false
}

type knownKind struct {
	group, kind, plural string
	cluster             bool // not in a namespace
}

func knownKinds() []knownKind {
	const (
		admission  = "admissionregistration.k8s.io"
		networking = "networking.k8s.io"
		roles      = "rbac.authorization.k8s.io"
	)
	return []knownKind{
		{kind: "ConfigMap", plural: "configmaps"},
		{kind: "Endpoints", plural: "endpoints"},
		{kind: "LimitRange", plural: "limitranges"},
		{kind: "Namespace", plural: "namespaces", cluster: true},
		{kind: "PersistentVolume", plural: "persistentvolumes", cluster: true},
		{kind: "PersistentVolumeClaim", plural: "persistentvolumeclaims"},
		{kind: "Pod", plural: "pods"},
		{kind: "ReplicationController", plural: "replicationcontrollers"},
		{kind: "ResourceQuota", plural: "resourcequotas"},
		{kind: "Secret", plural: "secrets"},
		{kind: "Service", plural: "services"},
		{kind: "ServiceAccount", plural: "serviceaccounts"},
		{group: "apps", kind: "DaemonSet", plural: "daemonsets"},
		{group: "apps", kind: "Deployment", plural: "deployments"},
		{group: "apps", kind: "ReplicaSet", plural: "replicasets"},
		{group: "apps", kind: "StatefulSet", plural: "statefulsets"},
		{group: "batch", kind: "CronJob", plural: "cronjobs"},
		{group: "batch", kind: "Job", plural: "jobs"},
		{group: "autoscaling", kind: "HorizontalPodAutoscaler", plural: "horizontalpodautoscalers"},
		{group: "policy", kind: "PodDisruptionBudget", plural: "poddisruptionbudgets"},
		{group: "coordination.k8s.io", kind: "Lease", plural: "leases"},
		{group: networking, kind: "Ingress", plural: "ingresses"},
		{group: networking, kind: "IngressClass", plural: "ingressclasses", cluster: true},
		{group: networking, kind: "NetworkPolicy", plural: "networkpolicies"},
		{group: roles, kind: "ClusterRole", plural: "clusterroles", cluster: true},
		{group: roles, kind: "ClusterRoleBinding", plural: "clusterrolebindings", cluster: true},
		{group: roles, kind: "Role", plural: "roles"},
		{group: roles, kind: "RoleBinding", plural: "rolebindings"},
		{group: "storage.k8s.io", kind: "CSIDriver", plural: "csidrivers", cluster: true},
		{group: "storage.k8s.io", kind: "StorageClass", plural: "storageclasses", cluster: true},
		{group: "scheduling.k8s.io", kind: "PriorityClass", plural: "priorityclasses", cluster: true},
		{group: "node.k8s.io", kind: "RuntimeClass", plural: "runtimeclasses", cluster: true},
		{group: "apiextensions.k8s.io", kind: "CustomResourceDefinition", plural: "customresourcedefinitions", cluster: true},
		{group: "apiregistration.k8s.io", kind: "APIService", plural: "apiservices", cluster: true},
		{group: admission, kind: "MutatingWebhookConfiguration", plural: "mutatingwebhookconfigurations", cluster: true},
		{group: admission, kind: "ValidatingAdmissionPolicy", plural: "validatingadmissionpolicies", cluster: true},
		{group: admission, kind: "ValidatingAdmissionPolicyBinding", plural: "validatingadmissionpolicybindings", cluster: true},
		{group: admission, kind: "ValidatingWebhookConfiguration", plural: "validatingwebhookconfigurations", cluster: true},
		{group: "cert-manager.io", kind: "Certificate", plural: "certificates"},
	}
}
