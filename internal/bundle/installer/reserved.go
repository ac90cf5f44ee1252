package installer

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
)

// Reserved is what bundles leave alone, whatever the rights of those who install them: what
// berth itself runs on. The zero value reserves nothing.
type Reserved struct {
	// System is the system namespace.
	System string
}

// Check refuses objects that touch what is reserved; namespace is that of those which name
// none, and which may have been filled in. All of them are named.
func (r Reserved) Check(objects []*unstructured.Unstructured, namespace string) error {
	var problems []string
	implied := false
	for _, object := range objects {
		reason := r.reason(object, namespace)
		if reason == "" {
			continue
		}
		problems = append(problems, kube.Object(object.GetKind(), object.GetName())+" "+reason)
		implied = implied || namespace == r.System && namespaceOf(object, namespace) == r.System
	}
	if len(problems) == 0 {
		return nil
	}
	err := fault.New(fault.Failed, "the bundle has %s that bundles leave alone: %s",
		english.Count(len(problems), "object"), strings.Join(problems, "; "))
	if implied {
		return err.WithHint("name the namespace of the objects in the instance: spec.config.namespace")
	}
	return err.WithHint("take them out of the bundle; a server with --allow-system lets them in")
}

// Allowed are the objects that touch nothing that is reserved.
func (r Reserved) Allowed(objects []*unstructured.Unstructured,
	namespace string,
) (allowed []*unstructured.Unstructured) {
	for _, object := range objects {
		if r.reason(object, namespace) == "" {
			allowed = append(allowed, object)
		}
	}
	return allowed
}

// Hides is true for a namespace whose objects no template looks up.
func (r Reserved) Hides(namespace string) bool { return r.System != "" && namespace == r.System }

// reason is why an object is reserved; empty for one that is not.
func (r Reserved) reason(object *unstructured.Unstructured, namespace string) string {
	group, kind, name := object.GroupVersionKind().Group, object.GetKind(), object.GetName()
	switch {
	case r.System == "":
		return ""
	case namespaceOf(object, namespace) == r.System, group == "" && kind == "Namespace" && name == r.System:
		return "is of the system namespace " + r.System
	case group == "apiextensions.k8s.io" &&
		(strings.HasSuffix(name, "."+v1alpha1.Group) || field(object, "spec", "group") == v1alpha1.Group),
		group == "apiregistration.k8s.io" &&
			(strings.HasSuffix(name, "."+v1alpha1.Group) || field(object, "spec", "group") == v1alpha1.Group):
		return "defines the API of bundles"
	case isGlobal(group) && isOurs(name):
		return "has the name of one of berth's own"
	case group == "rbac.authorization.k8s.io" && r.bindsOurs(object):
		return "gives rights to a ServiceAccount of the system namespace " + r.System
	}
	return ""
}

// namespaceOf is where an object will be: one of a kind that is in no namespace is in none, and
// one of a kind that is not known is taken for one that is in a namespace.
func namespaceOf(object *unstructured.Unstructured, namespace string) string {
	resource, known := kube.ResourceOf(object.GroupVersionKind())
	switch {
	case known && !resource.Namespaced:
		return ""
	case object.GetNamespace() != "":
		return object.GetNamespace()
	}
	return namespace
}

// isGlobal is true for the groups of what `berth serve manifests` makes for the cluster.
func isGlobal(group string) bool {
	return group == "rbac.authorization.k8s.io" || group == "admissionregistration.k8s.io"
}

// isOurs is true for the names of what `berth serve manifests` makes for the cluster.
func isOurs(name string) bool {
	return strings.HasPrefix(name, "berth-") || strings.HasPrefix(name, "machine-pool-") || name == "workspace-user" ||
		name == "bundle-reader"
}

// bindsOurs is true for a binding of which a ServiceAccount of the system namespace is a subject.
func (r Reserved) bindsOurs(object *unstructured.Unstructured) bool {
	subjects, _, _ := unstructured.NestedSlice(object.Object, "subjects")
	for _, s := range subjects {
		subject, _ := s.(map[string]any)
		name, _ := subject["name"].(string)
		switch subject["kind"] {
		case "ServiceAccount":
			if subject["namespace"] == r.System {
				return true
			}
		case "User":
			if strings.HasPrefix(name, "system:serviceaccount:"+r.System+":") {
				return true
			}
		case "Group":
			if name == "system:serviceaccounts:"+r.System {
				return true
			}
		}
	}
	return false
}

func field(object *unstructured.Unstructured, path ...string) string {
	text, _, _ := unstructured.NestedString(object.Object, path...)
	return text
}
