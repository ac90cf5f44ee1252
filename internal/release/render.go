package release

import (
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
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

// Render fills values into the workspace chart. It is a function of its
// arguments: no cluster is asked.
func Render(values map[string]any) (*Rendered, error) {
	c, err := Chart()
	if err != nil {
		return nil, err
	}
	documents, err := fill(c, values)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	r := &Rendered{Chart: c, Values: values}
	var text strings.Builder
	for _, d := range documents {
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", d.path, d.content)
		r.Objects = append(r.Objects, d.object)
	}
	r.Manifest = text.String()
	return r, nil
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
