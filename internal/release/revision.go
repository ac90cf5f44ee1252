package release

import (
	"fmt"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/chart"
	helm "helm.sh/helm/v3/pkg/release"
	helmtime "helm.sh/helm/v3/pkg/time"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/kube"
)

// Content is what a revision of a release consists of.
type Content struct {
	Chart  *chart.Chart
	Config map[string]any
	// Manifest is of all objects, with their namespaces: see Manifest.
	Manifest string
	Hooks    []*helm.Hook
	// Notes are what a chart tells its user.
	Notes string
}

// NewRevision is the record of what is about to be applied: the first of a release, or
// the one after before.
func NewRevision(name, namespace string, content Content, before *helm.Release, now time.Time) *helm.Release {
	at := helmtime.Time{Time: now}
	revision := &helm.Release{
		Name: name, Namespace: namespace, Version: 1,
		Chart: content.Chart, Config: content.Config, Manifest: content.Manifest, Hooks: content.Hooks,
		Info: &helm.Info{
			FirstDeployed: at, LastDeployed: at, Status: helm.StatusPendingInstall,
			Description: "Initial install underway", Notes: content.Notes,
		},
	}
	if before != nil {
		revision.Version = before.Version + 1
		revision.Info.FirstDeployed = before.Info.FirstDeployed
		revision.Info.Status, revision.Info.Description = helm.StatusPendingUpgrade, preparingUpgrade
	}
	return revision
}

// preparingUpgrade is how Helm describes a revision that is not applied yet.
const preparingUpgrade = "Preparing upgrade"

// Plain is the chart of a release that is made of no chart: Helm shows its name and
// version.
func Plain(name, version string) *chart.Chart {
	return &chart.Chart{Metadata: &chart.Metadata{APIVersion: chart.APIVersionV2, Name: name, Version: version}}
}

// Manifest is the text of objects as Helm records it. Plain `helm uninstall` deletes what
// is in there: definitions of custom resources, with which the resources would go, are
// marked to be kept.
func Manifest(objects []*unstructured.Unstructured) (string, error) {
	var text strings.Builder
	for _, object := range objects {
		if object.GetKind() == "CustomResourceDefinition" {
			object = marked(object)
		}
		document, err := yaml.Marshal(object.Object)
		if err != nil {
			return "", fmt.Errorf("manifest: %s %s: %w", object.GetKind(), object.GetName(), err)
		}
		text.WriteString("---\n")
		text.Write(document)
	}
	return text.String(), nil
}

// annotationMarked is on a definition that is kept from `helm uninstall` by a mark which is
// not its own: what is applied has neither.
const annotationMarked = "berth.dev/resource-policy"

func marked(definition *unstructured.Unstructured) *unstructured.Unstructured {
	if _, own := definition.GetAnnotations()[apply.AnnotationKeep]; own {
		return definition
	}
	definition = definition.DeepCopy()
	kube.Annotate(definition, apply.AnnotationKeep, "keep")
	kube.Annotate(definition, annotationMarked, "added")
	return definition
}

func unmark(object *unstructured.Unstructured) {
	annotations := object.GetAnnotations()
	if _, is := annotations[annotationMarked]; !is {
		return
	}
	delete(annotations, apply.AnnotationKeep)
	delete(annotations, annotationMarked)
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
}

// Failed marks a revision: it could not be applied.
func Failed(release *helm.Release, reason string) {
	release.SetStatus(helm.StatusFailed, reason)
}
