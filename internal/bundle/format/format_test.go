package format_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/chart"
)

func TestHelm(t *testing.T) {
	files := map[string]string{
		"web/Chart.yaml": "apiVersion: v2\nname: web\nversion: 1.2.3\n",
		"web/templates/NOTES.txt": "{{ .Release.Name }} in {{ .Release.Namespace }}, {{ .Release.Revision }} {{ " +
			".Release.IsUpgrade }}",
		"web/templates/a.yaml": configMap +
			"data: {replicas: {{ .Values.replicas | quote }}, kube: {{ .Capabilities.KubeVersion.Version }}}\n",
		"web/templates/hook.yaml": "apiVersion: v1\nkind: Pod\nmetadata: {name: first, annotations: " +
			"{helm.sh/hook: pre-install}}\n",
		"web/crds/a.yaml": "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n" +
			"metadata: {name: things.example.com}\n",
		"README.md": "beside the chart",
	}
	pkg, err := format.Load(t.Context(), bundle(files), format.Options{
		Instance: "shop", Namespace: "here", Revision: 4, Upgrade: true, Values: []byte("replicas: 3"),
		Capabilities: chart.Capabilities{Version: "v1.33.1"},
	})
	if err != nil {
		t.Fatal(err, problems(t, err))
	}
	if diff := cmp.Diff([]string{"CustomResourceDefinition /things.example.com", "ConfigMap /a"},
		names(pkg.Objects)); diff != "" {
		t.Error(diff)
	}
	manifest, err := pkg.Manifest()
	want := "---\n# Source: web/templates/a.yaml\n" + configMap + "data: {replicas: \"3\", kube: v1.33.1}\n"
	if diff := cmp.Diff(want, manifest); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if pkg.Format != format.Helm || pkg.Name != "web" || pkg.Version != "1.2.3" ||
		pkg.Notes != "shop in here, 4 true" ||
		len(pkg.Hooks) != 1 || pkg.Chart == nil || !cmp.Equal(pkg.Values, map[string]any{"replicas": 3.0}) {
		t.Errorf("package %+v", pkg)
	}
}

func TestManifestOfObjects(t *testing.T) {
	pkg, err := format.Load(t.Context(),
		bundle(map[string]string{"manifests/a.yaml": configMap + "---\n" +
			strings.Replace(configMap, "name: a", "name: b", 1)}), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := pkg.Manifest()
	if want := "---\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n---\napiVersion: v1\nkind: ConfigMap\n" +
		"metadata:\n  name: b\n"; got != want || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
}

func TestOptions(t *testing.T) {
	plain := bundle(map[string]string{"manifests/a.yaml": configMap})
	for name, test := range map[string]struct {
		o    format.Options
		want string
	}{
		"values of no chart":   {format.Options{Values: []byte("a: 1")}, "a bundle of format plain+v0 takes no values"},
		"another format":       {format.Options{Format: format.Helm}, "the bundle has 0 charts, not one"},
		"a registry's instead": {format.Options{Format: format.Registry}, "invalid registry+v1 bundle"},
		"no format":            {format.Options{Format: "jsonnet"}, `unknown bundle format "jsonnet"`},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := format.Load(t.Context(), plain, test.o); err == nil ||
				!strings.HasPrefix(err.Error(), test.want) {
				t.Fatal(err)
			}
		})
	}
}
