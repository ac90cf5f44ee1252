package release

import (
	"maps"
	"strings"

	helm "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/berthdev/berth/internal/kube"
)

// k8shell finds the releases of workspaces by their labels, and reads the blueprint back from their values. Both are
// docs/k8shell.md's.

// The keys of values: berth's own are below one that k8shell does not know, beside the blueprint's fields.
const (
	ownKey     = "berth"
	k8shellKey = "k8shell"
)

// config is how the values of the chart are recorded: what k8shell reads is at the top.
func config(values map[string]any) map[string]any {
	theirs, has := values[k8shellKey].(map[string]any)
	if !has {
		return values
	}
	own, all := maps.Clone(values), maps.Clone(theirs)
	delete(own, k8shellKey)
	all[ownKey] = own
	return all
}

// Values are the values of the chart that a release was made of, as they were rendered.
func Values(release *helm.Release) map[string]any {
	own, has := release.Config[ownKey].(map[string]any)
	if !has {
		return release.Config
	}
	values, theirs := maps.Clone(own), maps.Clone(release.Config)
	delete(theirs, ownKey)
	values[k8shellKey] = theirs
	return values
}

// releaseLabels are those that k8shell selects the releases of workspaces by.
func releaseLabels(name string, values map[string]any) map[string]string {
	pod, has := values["labels"].(map[string]any)
	if !has {
		return nil
	}
	labels := map[string]string{
		labelName: releaseName, "app.kubernetes.io/instance": kube.LabelValue(name), labelManager: manager,
	}
	for _, label := range []string{
		kube.LabelAgentVersion, kube.LabelUsername, kube.LabelBlueprint, kube.LabelOrganization,
	} {
		labels[label], _ = pod[label].(string)
	}
	return labels
}

// keptLabels are the labels by which a release is found that another run, or another program, has written.
func keptLabels(release *helm.Release) map[string]string {
	kept := map[string]string{}
	for name, value := range release.Labels {
		if strings.HasPrefix(name, "app.kubernetes.io/") || strings.HasPrefix(name, "k8shell.io/") {
			kept[name] = value
		}
	}
	return kept
}

// What k8shell calls its own chart, and the labels that all releases of workspaces have.
const (
	k8shellChart = "workspace"
	labelName    = "app.kubernetes.io/name"
	labelManager = "app.kubernetes.io/managed-by"
	releaseName  = "k8shell-workspace"
	manager      = "k8shell-provisioner"
)

// IsK8shells is true for a release of k8shell's own chart: by the chart and the labels, as what a value says of it may
// be anything.
func IsK8shells(release *helm.Release) bool {
	_, own := release.Config[ownKey]
	return !own && release.Chart != nil && release.Chart.Metadata != nil &&
		release.Chart.Metadata.Name == k8shellChart && release.Labels[labelName] == releaseName &&
		release.Labels[labelManager] == manager
}

// IsOfThisChart is true for a release of the embedded chart in its version: only from the values of such a one the same
// objects are rendered again.
func IsOfThisChart(release *helm.Release) bool {
	c, err := Chart()
	return err == nil && release.Chart != nil && release.Chart.Metadata != nil &&
		release.Chart.Metadata.Name == c.Metadata.Name && release.Chart.Metadata.Version == c.Metadata.Version
}

// Again are the objects of a release as they are recorded, for another job. The values are those that are to be
// recorded.
func Again(release *helm.Release, before, job string, values map[string]any) (*Rendered, error) {
	manifest := release.Manifest
	if len(before) == len(job) { // an ID, and no word that is anywhere
		manifest = strings.ReplaceAll(manifest, before, job)
	}
	objects, err := Objects(manifest)
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		object.SetNamespace("") // where it is, is said by the caller
	}
	return &Rendered{
		Chart: release.Chart, Values: runtime.DeepCopyJSON(values), Objects: objects, Manifest: manifest,
	}, nil
}
