package resource

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// AppliedBy names the program that applies an instance again and again, and so undoes what others change of it; empty
// if no such program is known to. Flux leaves an object alone that is marked for that.
func AppliedBy(in *v1alpha1.Instance) string {
	const flux = ".toolkit.fluxcd.io/"
	for _, by := range []string{"kustomize", "helm"} {
		name := in.Labels[by+flux+"name"]
		ssa := strings.ToLower(in.Annotations[by+flux+"ssa"])
		if name == "" || in.Annotations[by+flux+"reconcile"] == "disabled" || ssa == "ignore" || ssa == "ifnotpresent" {
			continue
		}
		return "Flux (" + by + " " + name + ")"
	}
	if id := in.Annotations["argocd.argoproj.io/tracking-id"]; id != "" {
		name, _, _ := strings.Cut(id, ":")
		return "Argo CD (application " + name + ")"
	}
	if slices.ContainsFunc(in.ManagedFields, func(m metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(m.Manager, "argocd-") && m.Subresource == ""
	}) {
		return "Argo CD"
	}
	return ""
}
