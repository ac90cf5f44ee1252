//go:build e2e

package e2e

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/berthdev/berth/internal/rbac"
)

// What differs between the versions of Kubernetes that berth works with: docs/compatibility.md.

// isAtLeast is true if the cluster is of this version of Kubernetes or of a newer one.
func (w *world) isAtLeast(minimum string) bool {
	w.Helper()
	is, err := w.Discovery().ServerVersion()
	if err != nil {
		w.Fatal(err)
	}
	return version.MustParseSemantic(is.GitVersion).AtLeast(version.MustParseSemantic(minimum))
}

// isNeeded is true if the cluster asks for an access where it is used. Before 1.35 an upgrade over WebSockets, which is
// a GET, needs no create.
func (w *world) isNeeded(a rbac.Access) bool {
	w.Helper()
	upgraded := []string{"pods/attach", "pods/exec", "pods/portforward"}
	return a.Verb != "create" || !slices.Contains(upgraded, a.Resource) || w.isAtLeast("v1.35.0")
}

// lists is how many more requests some watches are on a cluster on which they do not begin with a list.
func (w *world) lists(watches int) int {
	w.Helper()
	if w.isAtLeast("v1.34.0") {
		return 0
	}
	return 2 * watches // one that is refused, and the list
}
