package release

import "github.com/berthdev/berth/internal/apply"

// Owner marks the objects of a release as Helm does: without that neither
// `helm upgrade` nor a second release knows whose they are.
func Owner(name, namespace string) apply.Owner {
	return apply.Owner{
		Name:   "release " + name,
		Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
		Annotations: map[string]string{
			"meta.helm.sh/release-name":      name,
			"meta.helm.sh/release-namespace": namespace,
		},
	}
}
