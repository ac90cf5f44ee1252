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

// ResourceOf is the mapping of the kinds that the charts here use. It is
// static, so that no discovery is needed on the way to a workspace.
func ResourceOf(kind schema.GroupVersionKind) (Resource, bool) {
	plural, ok := plurals()[kind.GroupKind()]
	if !ok {
		return Resource{}, false
	}
	return Resource{GroupVersionResource: kind.GroupVersion().WithResource(plural), Namespaced: true}, true
}

func plurals() map[schema.GroupKind]string {
	return map[schema.GroupKind]string{
		{Kind: "ConfigMap"}:                                 "configmaps",
		{Kind: "PersistentVolumeClaim"}:                     "persistentvolumeclaims",
		{Kind: "Pod"}:                                       "pods",
		{Kind: "Secret"}:                                    "secrets",
		{Kind: "Service"}:                                   "services",
		{Kind: "ServiceAccount"}:                            "serviceaccounts",
		{Group: "apps", Kind: "Deployment"}:                 "deployments",
		{Group: "apps", Kind: "StatefulSet"}:                "statefulsets",
		{Group: "apps", Kind: "DaemonSet"}:                  "daemonsets",
		{Group: "networking.k8s.io", Kind: "NetworkPolicy"}: "networkpolicies",
		{Group: "cert-manager.io", Kind: "Certificate"}:     "certificates",
	}
}

// Object is what a call is about, as kind/name; of a kind that is none of a
// chart's here, resource/name, which kubectl understands as well.
func (c Call) Object() string {
	for kind, plural := range plurals() {
		if (schema.GroupResource{Group: kind.Group, Resource: plural}).String() == c.Resource {
			return Object(strings.ToLower(kind.Kind), c.Name)
		}
	}
	return Object(c.Resource, c.Name)
}

// IsWorkload is true for the kinds that run pods: they are created last, so
// that no pod waits for its ConfigMap.
func IsWorkload(kind schema.GroupVersionKind) bool {
	switch kind.GroupKind().String() {
	case "Pod", "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "Job.batch", "CronJob.batch", "ReplicaSet.apps":
		return true
	}
	return false
}
