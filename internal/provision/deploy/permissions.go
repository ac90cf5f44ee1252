package deploy

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/rbac"
)

// Permissions are what the caller may do.
type Permissions struct {
	rbac.Review
	// Unread is the refusal of a read that was made before: it is reported
	// together with whatever else is missing.
	Unread error
}

// Check reports all permissions that the caller lacks for a command and such
// objects. A read that was refused before is reported if nothing else is missing.
func (p Permissions) Check(doing, command string, objects []*unstructured.Unstructured, resources ...string) error {
	row := rbac.Named(command)
	missing := p.Missing(row.Needs(append(resourcesOf(objects), resources...)...))
	if err := row.Denied(doing, p.Namespace, missing); err != nil {
		return err
	}
	return p.Unread
}

// resourcesOf are the resources of objects, as the rules of a Role name them.
func resourcesOf(objects []*unstructured.Unstructured) (names []string) {
	for _, object := range objects {
		if resource, known := kube.ResourceOf(object.GroupVersionKind()); known {
			names = append(names, resource.Resource)
		} else {
			names = append(names, strings.ToLower(object.GetKind()))
		}
	}
	return names
}
