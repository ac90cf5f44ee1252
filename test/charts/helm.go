package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"runtime/debug"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/action"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	k8syaml "k8s.io/apimachinery/pkg/util/yaml"
)

// quietHelm lets Helm's library say what the program says of its version, and keeps its log to itself.
func quietHelm() {
	log.SetOutput(io.Discard)
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "helm.sh/helm/v3" {
			chartutil.DefaultCapabilities.HelmVersion.Version = module.Version
		}
	}
}

// byHelm renders a chart as `helm template` does, with its notes.
func byHelm(ctx context.Context, o options, c testCase) *rendering {
	r := &rendering{}
	r.err = r.helm(ctx, o, c)
	return r
}

func (r *rendering) helm(ctx context.Context, o options, c testCase) error {
	release, err := helmRelease(ctx, o, c)
	if err != nil {
		return err
	}
	return r.take(release)
}

// helmRelease is what Helm would record.
func helmRelease(ctx context.Context, o options, c testCase) (*helmrelease.Release, error) {
	chart, values, err := readForHelm(c)
	if err != nil {
		return nil, err
	}
	install := action.NewInstall(&action.Configuration{Log: func(string, ...any) {}})
	install.DryRun, install.DryRunOption, install.ClientOnly, install.Replace = true, "client", true, true
	install.ReleaseName, install.Namespace = o.release, o.namespace
	if install.KubeVersion, err = chartutil.ParseKubeVersion(o.kubeVersion); err != nil {
		return nil, err
	}
	if len(chart.CRDObjects()) > 0 {
		if install.APIVersions, err = defined(c); err != nil {
			return nil, err
		}
	}
	return install.RunWithContext(ctx, chart, values)
}

// readForHelm reads a chart and values, and checks what the program checks of a chart before it renders it.
func readForHelm(c testCase) (*helmchart.Chart, map[string]any, error) {
	chart, err := loader.Load(c.chart)
	if err != nil {
		return nil, nil, err
	}
	inOrder(chart)
	if kind := chart.Metadata.Type; kind != "" && kind != "application" {
		return nil, nil, fmt.Errorf("%s charts are not installable", kind)
	}
	if err := action.CheckDependencies(chart, chart.Metadata.Dependencies); err != nil {
		return nil, nil, err
	}
	values, err := chartutil.ReadValues(c.values)
	return chart, values, err
}

// inOrder makes the order of subcharts the same each time: Helm's is that of a map of Go.
func inOrder(c *helmchart.Chart) {
	subcharts := slices.Clone(c.Dependencies())
	slices.SortStableFunc(subcharts, func(a, b *helmchart.Chart) int {
		return cmp.Or(strings.Compare(a.Name(), b.Name()), strings.Compare(a.Metadata.Version, b.Metadata.Version))
	})
	c.SetDependencies(subcharts...)
	for _, sub := range subcharts {
		inOrder(sub)
	}
}

// defined are the versions and kinds of the definitions in crds/: when Helm installs, the cluster has them before a
// template asks for them, and `helm template` is told so with --api-versions.
func defined(c testCase) (versions chartutil.VersionSet, err error) {
	chart, values, err := readForHelm(c)
	if err != nil {
		return nil, err
	}
	if err := chartutil.ProcessDependenciesWithMerge(chart, values); err != nil {
		return nil, err
	}
	for _, file := range chart.CRDObjects() {
		objects, _ := kubectlReads(string(file.File.Data)) // what cannot be read is refused where it is taken
		for _, object := range objects {
			var crd apiextensions.CustomResourceDefinition
			if runtime.DefaultUnstructuredConverter.FromUnstructured(object, &crd) != nil {
				continue
			}
			for _, v := range crd.Spec.Versions {
				if version := crd.Spec.Group + "/" + v.Name; v.Served {
					versions = append(versions, version, version+"/"+crd.Spec.Names.Kind)
				}
			}
		}
	}
	return versions, nil
}

// take takes what Helm would apply out of its release.
func (r *rendering) take(release *helmrelease.Release) (err error) {
	for _, crd := range release.Chart.CRDObjects() {
		objects, err := kubectlReads(string(crd.File.Data))
		if err != nil {
			return fmt.Errorf("%s: %w", crd.Filename, err)
		}
		r.addDefinitions(objects)
	}
	if r.objects, err = kubectlReads(release.Manifest); err != nil {
		return err
	}
	slices.SortStableFunc(release.Hooks, func(a, b *helmrelease.Hook) int { // as before they run
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), strings.Compare(a.Name, b.Name))
	})
	for _, h := range release.Hooks {
		objects, err := kubectlReads(h.Manifest)
		if err != nil {
			return fmt.Errorf("%s: %w", h.Path, err)
		}
		r.addHook(h, objects)
	}
	r.notes = release.Info.Notes
	return r.check()
}

// check says what `helm template` prints and `helm install` cannot create.
func (r *rendering) check() error {
	seen := map[string]bool{}
	for _, object := range r.objects {
		id := idOf(object)
		u := unstructured.Unstructured{Object: object}
		if u.GetKind() == "" || u.GetAPIVersion() == "" || u.GetName() == "" {
			return fmt.Errorf("%s: without an apiVersion, a kind or a name", id)
		}
		if seen[id] {
			return fmt.Errorf("%s: defined twice", id)
		}
		seen[id] = true
	}
	return nil
}

// kubectlReads are the objects of a text as the libraries of kubectl read them.
func kubectlReads(text string) (objects []map[string]any, err error) {
	for decoder := k8syaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096); ; {
		var raw runtime.RawExtension
		switch err := decoder.Decode(&raw); {
		case errors.Is(err, io.EOF):
			return objects, nil
		case err != nil:
			return nil, err
		case len(raw.Raw) == 0, string(raw.Raw) == "null":
			continue
		}
		var object unstructured.Unstructured
		if err := object.UnmarshalJSON(raw.Raw); err != nil {
			return nil, err
		}
		if !object.IsList() {
			objects = append(objects, withTexts(object.Object))
			continue
		}
		list, err := object.ToList()
		if err != nil {
			return nil, err
		}
		for _, item := range list.Items {
			objects = append(objects, withTexts(item.Object))
		}
	}
}

// withTexts is an object as the API server reads its metadata: labels and annotations that are null are none, and one
// whose text is null has an empty one. berth reads them so.
func withTexts(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	for _, key := range []string{"labels", "annotations", "namespace"} {
		texts, _ := metadata[key].(map[string]any)
		if value, has := metadata[key]; has && value == nil {
			delete(metadata, key)
		}
		for name, text := range texts {
			if text == nil {
				texts[name] = ""
			}
		}
	}
	return object
}
