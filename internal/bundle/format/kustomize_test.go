package format_test

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/kustomize"
	"github.com/berthdev/berth/internal/fault"
)

func TestMain(m *testing.M) {
	kustomize.Worker(os.Exit)
	m.Run()
}

// A kustomization becomes the objects that it is built to.
func TestKustomize(t *testing.T) {
	pkg, err := format.Load(t.Context(), bundle(map[string]string{
		"kustomization.yaml": "resources: [a.yaml, base]\nnamePrefix: x-\nconfigMapGenerator: [{name: c, literals: " +
			"[a=b]}]\n",
		"a.yaml": configMap, "README.md": "", "values.yaml": "a: b",
		"base/kustomization.yml": "resources: [b.yaml]\nnamespace: base\n",
		"base/b.yaml":            "apiVersion: v1\nkind: Pod\nmetadata: {name: b}\nspec: {unknown: x}\n",
	}), format.Options{Namespace: "here"})
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	var got []string
	for _, object := range pkg.Objects {
		got = append(got, object.GetKind()+" "+object.GetNamespace()+"/"+object.GetName())
	}
	want := []string{"ConfigMap /x-a", "Pod base/x-b", "ConfigMap /x-c-4h2mbtbbt6"}
	if diff := cmp.Diff(want, got); diff != "" || pkg.Format != format.Kustomize {
		t.Error(pkg.Format, diff)
	}
	warnings := []string{"kustomize build:6: Pod x-b: spec.unknown is not a field, and is left out"}
	if diff := cmp.Diff(warnings, pkg.Warnings); diff != "" {
		t.Error(diff)
	}
	text, err := pkg.Manifest()
	if err != nil || text == "" {
		t.Error(text, err)
	}
}

func TestKustomizeProblems(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"what is not there": {
			files: map[string]string{"kustomization.yaml": "resources: [../base, https://example.com/x.yaml]\n"},
			want: []string{
				"kustomization.yaml: resources: ../base is outside of the bundle",
				"kustomization.yaml: resources: https://example.com/x.yaml would be fetched, and nothing is: vendor it",
			},
		},
		"not an object": {
			files: map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": "apiVersion: a/b/c\n" +
				"kind: X\nmetadata: {name: a}\n"},
			want: []string{`invalid kustomize bundle: kustomize build:1: X a: invalid apiVersion "a/b/c"`},
		},
		"no object": {
			files: map[string]string{"kustomization.yaml": "namePrefix: x\n"},
			want:  []string{"invalid kustomize bundle: the kustomization makes no object"},
		},
		"as YAML": {
			files: map[string]string{"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap},
			want: []string{"invalid yaml bundle: kustomization.yaml: a kustomization, which is not built where " +
				"others lie " +
				"beside it: give its directory"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := format.Options{Format: format.Kustomize}
			if name == "as YAML" {
				o.Format = format.YAML
			}
			_, err := format.Load(t.Context(), bundle(test.files), o)
			if diff := cmp.Diff(test.want, problems(t, err)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

// The time of a chart's rendering is also that of a kustomization.
func TestKustomizeEnds(t *testing.T) {
	_, err := format.Load(t.Context(), bundle(map[string]string{
		"kustomization.yaml": "resources: [a.yaml]\n", "a.yaml": configMap,
	}), format.Options{RenderTime: time.Nanosecond})
	if fault.ReasonOf(err) != kustomize.ReasonTime || fault.CodeOf(err) != fault.Failed {
		t.Error(err)
	}
}
