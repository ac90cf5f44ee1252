package release

import (
	"fmt"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
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

// Objects reads a manifest as Helm records it, in its order. What Manifest has marked is
// as it was.
func Objects(manifest string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for document := range strings.SplitSeq("\n"+manifest, "\n---") {
		var content map[string]any
		text, err := yaml.YAMLToJSON([]byte(document))
		if err == nil {
			err = json.Unmarshal(text, &content) // whole numbers stay whole
		}
		if err != nil {
			return nil, fmt.Errorf("manifest: %w", err)
		}
		if len(content) > 0 {
			object := &unstructured.Unstructured{Object: content}
			unmark(object)
			objects = append(objects, object)
		}
	}
	return objects, nil
}
