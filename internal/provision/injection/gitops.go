package injection

import (
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// gitOps: a tool that makes the cluster what a repository says reverts what
// others patch.
func (x *examination) gitOps() {
	labels := (&unstructured.Unstructured{Object: x.workload}).GetLabels()
	annotations := annotationsOf(x.workload)
	switch {
	case anyPrefix("argocd.argoproj.io/", labels, annotations):
		x.reverted("Argo CD", annotations["argocd.argoproj.io/tracking-id"])
	case labels["kustomize.toolkit.fluxcd.io/name"] != "":
		x.reverted("Flux", "Kustomization "+labels["kustomize.toolkit.fluxcd.io/name"])
	case labels["helm.toolkit.fluxcd.io/name"] != "":
		x.reverted("Flux", "HelmRelease "+labels["helm.toolkit.fluxcd.io/name"])
	case anyPrefix("fleet.cattle.io/", labels, annotations), anyPrefix("objectset.rio.cattle.io/", labels, annotations):
		x.reverted("Fleet", "")
	case anyPrefix("config.k8s.io/owning-inventory", labels, annotations):
		x.reverted("a GitOps tool", annotations["config.k8s.io/owning-inventory"])
	case tool(labels["app.kubernetes.io/managed-by"]) != "":
		x.reverted(tool(labels["app.kubernetes.io/managed-by"]), "")
	case annotations["meta.helm.sh/release-name"] != "":
		x.say(Notice, "HelmOwned", "", "%s belongs to the Helm release %s: its next upgrade may revert the injection",
			x, annotations["meta.helm.sh/release-name"])
	}
}

func (x *examination) reverted(by, what string) {
	if what != "" {
		by += " (" + what + ")"
	}
	x.say(Warning, "GitOpsOwned", "",
		"%s is managed by %s, which will revert the injection unless its synchronisation is suspended", x, by)
}

// tool is the GitOps tool that a managed-by label names; empty for all others.
func tool(managedBy string) string {
	switch name := strings.ToLower(managedBy); {
	case strings.Contains(name, "argo"):
		return "Argo CD"
	case strings.Contains(name, "flux"), name == "kustomize-controller", name == "helm-controller":
		return "Flux"
	}
	return ""
}

func anyPrefix(prefix string, maps ...map[string]string) bool {
	for _, m := range maps {
		for key := range m {
			if strings.HasPrefix(key, prefix) {
				return true
			}
		}
	}
	return false
}
