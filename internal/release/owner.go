package release

import "github.com/berthdev/berth/internal/apply"

// Owner marks the objects of a release as Helm does, which `helm upgrade` and the
// installation of another release check.
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
