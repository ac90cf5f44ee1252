package kubetest

import (
	"path"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// isCollection tells pods from pods/alice: group, version, perhaps a namespace,
// resource.
func isCollection(at string) bool {
	parts := strings.Split(strings.Trim(at, "/"), "/")
	parts = parts[min(2, len(parts)):]
	if strings.HasPrefix(at, "/apis/") {
		parts = parts[min(1, len(parts)):]
	}
	if len(parts) > 2 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	return len(parts) == 1
}

// covers says whether an object is in a collection: of its namespace or of all.
func covers(collection, object string) bool {
	parent, resource := path.Dir(object), path.Base(collection)
	return parent == collection || path.Base(parent) == resource && !strings.Contains(collection, "/namespaces/")
}

// apiVersion is the group and version of a path.
func apiVersion(at string) string {
	parts := strings.Split(strings.Trim(at, "/"), "/")
	if parts[0] == "api" {
		return parts[1]
	}
	return parts[1] + "/" + parts[2]
}

// kindOf is the kind of what is in a collection; any for one of a custom resource.
func kindOf(at string) string {
	version, err := schema.ParseGroupVersion(apiVersion(at))
	if err != nil {
		return ""
	}
	for kind := range scheme.Scheme.KnownTypes(version) {
		if plural, _ := meta.UnsafeGuessKindToResource(version.WithKind(kind)); plural.Resource == path.Base(at) {
			return kind
		}
	}
	return "Resource"
}
