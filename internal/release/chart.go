// Package release renders the embedded chart and keeps Helm's record of what was
// installed, so that `helm list`, `get` and `uninstall` understand it.
package release

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/yamldoc"
)

//go:embed all:chart
var charts embed.FS

// ChartName is the chart of a workspace.
const ChartName = "k8shell-workspace"

// Chart loads the embedded chart.
func Chart() (*helmchart.Chart, error) {
	root := "chart/" + ChartName
	var files []*loader.BufferedFile
	err := fs.WalkDir(charts, root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := charts.ReadFile(path)
		files = append(files, &loader.BufferedFile{Name: strings.TrimPrefix(path, root+"/"), Data: data})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("embedded chart: %w", err)
	}
	return loader.LoadFiles(files)
}

// Rendered is a chart with its values filled in.
type Rendered = chart.Rendered

// Render fills values into the workspace chart. It is a function of its
// arguments: no cluster is asked.
func Render(values map[string]any) (*Rendered, error) {
	c, err := Chart()
	if err != nil {
		return nil, err
	}
	rendered, err := chart.Fill(c, withoutIdleNulls(c.Values, values))
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	rendered.Values = values
	return rendered, nil
}

// withoutIdleNulls leaves out what is null and has no default to remove, in the tables that the chart has. Helm would
// keep it, and objects with it would be recorded: a blueprint that clears a field of the one above it has such.
func withoutIdleNulls(defaults, values map[string]any) map[string]any {
	out := maps.Clone(values)
	for key, value := range values {
		below, wasTable := defaults[key].(map[string]any)
		table, isTable := value.(map[string]any)
		switch {
		case value == nil && defaults[key] == nil:
			delete(out, key)
		case isTable && wasTable:
			out[key] = withoutIdleNulls(below, table)
		}
	}
	return out
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

// Objects reads a manifest as Helm records it, in its order. What Manifest has marked is
// as it was.
func Objects(manifest string) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	for _, document := range yamldoc.Documents([]byte(manifest)) {
		var content map[string]any
		text, err := yaml.YAMLToJSON(document)
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
