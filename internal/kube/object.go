package kube

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object names an object as kind/name, the way kubectl does: pod/alice-1234567.
func Object(kind, name string) string { return strings.ToLower(kind) + "/" + name }

// Named is an object of the core API with nothing but a name.
func Named(kind, name string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{}
	object.SetAPIVersion("v1")
	object.SetKind(kind)
	object.SetName(name)
	return object
}

// Untyped is a pointer to an object of the core API, which does not say itself of what kind it is.
func Untyped(kind string, object any) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kind, err)
	}
	untyped := &unstructured.Unstructured{Object: content}
	untyped.SetAPIVersion("v1")
	untyped.SetKind(kind)
	return untyped, nil
}

// UntypedList is Untyped of the items of a list.
func UntypedList[T any](kind string, items []T) (objects []*unstructured.Unstructured, err error) {
	for i := range items {
		object, err := Untyped(kind, &items[i])
		if err != nil {
			return nil, err
		}
		objects = append(objects, object)
	}
	return objects, nil
}

// OfKind is the first object of a kind; nil if there is none.
func OfKind(objects []*unstructured.Unstructured, kind string) *unstructured.Unstructured {
	i := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == kind })
	if i < 0 {
		return nil
	}
	return objects[i]
}

// Annotate sets an annotation of an object.
func Annotate(object *unstructured.Unstructured, name, value string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[name] = value
	object.SetAnnotations(annotations)
}

// WithOwnMetadata is a copy of an object of which the fields of the metadata can be set. All below them, and everything
// else, is that of the object, and must not be changed: it is most of a large one.
func WithOwnMetadata(object *unstructured.Unstructured) *unstructured.Unstructured {
	fields := maps.Clone(object.Object)
	if metadata, ok := fields["metadata"].(map[string]any); ok {
		fields["metadata"] = maps.Clone(metadata)
	}
	return &unstructured.Unstructured{Object: fields}
}

// WrittenAt is when an object itself was last written, to the second: not its status, nor its number of replicas by way
// of the scale subresource. Zero if that is not known.
func WrittenAt(o metav1.Object) time.Time {
	var at time.Time
	for _, entry := range o.GetManagedFields() {
		if entry.Time != nil && entry.Subresource == "" && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

// Resource is how a kind is addressed in the API.
type Resource struct {
	schema.GroupVersionResource
	Namespaced bool
}

// ResourceOf is the resource of a kind that berth knows. The table is static, so that no discovery is needed on the way
// to a workspace.
func ResourceOf(kind schema.GroupVersionKind) (Resource, bool) {
	namespaced, known := knownKinds()[kind.GroupKind()]
	if !known {
		return Resource{}, false
	}
	plural, _ := meta.UnsafeGuessKindToResource(kind) // which is right for all of them
	return Resource{GroupVersionResource: plural, Namespaced: namespaced}, true
}

// Object is what a call is about, as kind/name; if the kind is not known, resource/name, which kubectl understands as
// well.
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

// knownKinds are the kinds that berth knows, and whether their objects are in namespaces.
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
