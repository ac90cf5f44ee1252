package release

import (
	"fmt"
	"maps"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/releaseutil"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/kube"
)

// Rendered is a chart with its values filled in.
type Rendered struct {
	Chart    *chart.Chart
	Values   map[string]any
	Manifest string // as Helm records it
	Objects  []*unstructured.Unstructured
}

// Render fills values into the workspace chart for a release of that name. It
// is a function of its arguments: no cluster is asked.
func Render(name, namespace string, values map[string]any) (*Rendered, error) {
	c, err := Chart()
	if err != nil {
		return nil, err
	}
	options := chartutil.ReleaseOptions{Name: name, Namespace: namespace, Revision: 1, IsInstall: true}
	top, err := chartutil.ToRenderValues(c, values, options, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, fmt.Errorf("chart values: %w", err)
	}
	files, err := engine.Engine{}.Render(c, top)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	maps.DeleteFunc(files, func(path, text string) bool {
		return strings.HasPrefix(path[strings.LastIndex(path, "/")+1:], "_") || strings.TrimSpace(text) == ""
	})
	_, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	r := &Rendered{Chart: c, Values: values}
	var text strings.Builder
	for _, m := range manifests {
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	r.Manifest = text.String()
	r.Objects, err = Objects(r.Manifest)
	return r, err
}

// Objects reads a manifest as Helm records it, in its order.
func Objects(manifest string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq("\n"+manifest, "\n---") {
		var content map[string]any
		if err := yaml.Unmarshal([]byte(document), &content); err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
		if len(content) > 0 {
			objects = append(objects, &unstructured.Unstructured{Object: content})
		}
	}
	return objects, nil
}

// owned marks an object as Helm marks those of a release: without it neither
// `helm upgrade` nor a second release knows whose it is.
func owned(object *unstructured.Unstructured, name, namespace string) *unstructured.Unstructured {
	out := object.DeepCopy()
	labels, annotations := out.GetLabels(), out.GetAnnotations()
	if labels == nil {
		labels = map[string]string{}
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	labels[labelManagedBy] = "Helm"
	annotations[annotationReleaseName] = name
	annotations[annotationReleaseNamespace] = namespace
	out.SetLabels(labels)
	out.SetAnnotations(annotations)
	out.SetNamespace(namespace)
	return out
}

// mark makes an object one of the applier's.
func (a Applier) mark(object *unstructured.Unstructured) *unstructured.Unstructured {
	if !a.Loose {
		return owned(object, a.Name, a.Namespace)
	}
	object = object.DeepCopy()
	object.SetNamespace(a.Namespace)
	return object
}

// owns is true for an object that an applier of that name has made.
func (a Applier) owns(object *unstructured.Unstructured) bool {
	if a.Loose {
		return object.GetLabels()[kube.LabelCanonicalID] == kube.LabelValue(a.Name)
	}
	return object.GetAnnotations()[annotationReleaseName] == a.Name
}

// Helm's own marks.
const (
	labelManagedBy             = "app.kubernetes.io/managed-by"
	annotationReleaseName      = "meta.helm.sh/release-name"
	annotationReleaseNamespace = "meta.helm.sh/release-namespace"
)
