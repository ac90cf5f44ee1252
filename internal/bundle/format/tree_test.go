package format_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/fault"
)

// Manifests are read wherever they lie; what is hidden, or no YAML by its name, is passed over.
func TestYAML(t *testing.T) {
	_, err := format.Load(t.Context(), bundle(map[string]string{
		"b.yaml":              configMap,
		"README.md":           "# not: [yaml",
		"Makefile":            "all:\n\tfalse\n",
		"notes.txt":           "x",
		"deploy/a.yml":        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\n---\n" + configMap + "  # again\n",
		"deploy/crds/c.json":  `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}`,
		"deploy/empty.yaml":   "# nothing\n",
		".github/ci.yaml":     "on: push",
		"deploy/.hidden.yaml": "on: [",
		".a.yaml":             "x",
	}), format.Options{Namespace: "here"})
	if err == nil {
		t.Fatal("an object that is there twice was taken")
	}
	want := []string{"invalid yaml bundle: deploy/a.yml:5: ConfigMap a: defined twice (first at b.yaml:1)"}
	if diff := cmp.Diff(want, problems(t, err)); diff != "" {
		t.Fatal(diff)
	}
	pkg, err := format.Load(t.Context(), bundle(map[string]string{
		"b.yaml": configMap, "a/b/c.json": `{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}`, "x.sh": "",
	}), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, object := range pkg.Objects {
		got = append(got, object.GetKind()+" "+object.GetName())
	}
	if diff := cmp.Diff([]string{"Pod p", "ConfigMap a"}, got); diff != "" || pkg.Format != format.YAML {
		t.Error(pkg.Format, diff)
	}
}

// Every file is named that has YAML which is no Kubernetes object, or that another program is to read.
func TestYAMLProblems(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"YAML that is no object": {
			files: map[string]string{
				"ci/values.yaml": "image: x\n", "docker-compose.yml": "services: {}\n", "package.json": `{"name": "x"}`,
				"list.yaml": "- 1\n", "a.yaml": configMap,
			},
			want: []string{
				"ci/values.yaml:1: no Kubernetes object: it has neither apiVersion nor kind",
				"docker-compose.yml:1: no Kubernetes object: it has neither apiVersion nor kind",
				"list.yaml:1: must be an object, is a list",
				"package.json:1: no Kubernetes object: it has neither apiVersion nor kind",
			},
		},
		"a template": {
			files: map[string]string{"a.yaml": "kind: {{ .Kind }}\n"},
			want: []string{"invalid yaml bundle: a.yaml:1: invalid map key: map[interface {}]interface " +
				"{}{\".Kind\":interface {}(nil)}"},
		},
		"a kustomization and a chart": {
			files: map[string]string{
				"a.yaml": configMap, "b/kustomization.yaml": "resources: []\n", "c/d/Chart.yaml": "apiVersion: v2\n",
			},
			want: []string{
				"b/kustomization.yaml: a kustomization, which is not built where others lie beside it: give its " +
					"directory",
				"c/d/Chart.yaml: a chart, which is not rendered where others lie beside it: give its directory",
			},
		},
		"nothing but comments": {
			files: map[string]string{"a.yaml": "# nothing\n"},
			want:  []string{"invalid yaml bundle: no file holds an object"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := format.Load(t.Context(), bundle(test.files), format.Options{Format: format.YAML})
			if diff := cmp.Diff(test.want, problems(t, err)); diff != "" || fault.From(err).Hint == "" {
				t.Fatal(diff)
			}
		})
	}
}

func FuzzYAML(f *testing.F) {
	f.Add("a.yaml", []byte(configMap), "b/c.json", []byte("{}"))
	f.Add(".a.yaml", []byte(configMap), "kustomization.yaml", []byte("resources: [a.yaml]"))
	f.Fuzz(func(t *testing.T, a string, inA []byte, b string, inB []byte) {
		fsys := bundle(map[string]string{a: string(inA), b: string(inB)})
		pkg, err := format.Load(t.Context(), fsys, format.Options{Format: format.YAML})
		checkLoaded(t, pkg, err)
	})
}
