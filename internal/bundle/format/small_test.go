package format_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/chart"
)

// The bundles of testdata/small are of one peculiarity each, which real content has. They are read as Helm, kubectl or
// rukpak read them.
func TestSmall(t *testing.T) {
	for name, want := range map[string]struct {
		format   format.Format
		objects  []string
		warnings []string
		options  format.Options
		refused  string
	}{
		// a ClusterServiceVersion is known by its kind
		"csv": {format: format.Registry, objects: []string{"Namespace/p-system"}},
		"dk": {
			format: format.Plain, objects: []string{"ConfigMap/a"},
			warnings: []string{`manifests/a.yaml:5: key "data" already set in map; the last one counts`},
		},
		"mani": {format: format.Helm, objects: []string{"ConfigMap/a"}}, // a chart, whatever lies beside its Chart.yaml
		"ssa": {
			format: format.Helm, objects: []string{"Deployment/a"},
			warnings: []string{
				"dup/templates/a.yaml:1: Deployment a: spec.template.spec.containers[0].env has name X more than " +
					"once: the last one counts",
				"dup/templates/a.yaml:1: Deployment a: spec.template.spec.unknownField is not a field, and is left out",
			},
		},
		"rec": {format: format.Plain, objects: []string{"Secret/a", "ConfigMap/b"}},
		// a directory of YAML is plain content, and what is no YAML in it is not read
		"flat":   {format: format.YAML, objects: []string{"ConfigMap/a"}},
		"readme": {format: format.Plain, objects: []string{"ConfigMap/a"}},
		// kubeVersion is compared with the version that is said
		"kver": {refused: "kubeVersion: requires Kubernetes <1.35.0-0, this is v1.37.0"},
		"kver of an older cluster": {
			format: format.Helm, objects: []string{"ConfigMap/i-x"},
			options: format.Options{Capabilities: chart.Capabilities{Version: "v1.34.1"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			o := want.options
			o.Instance, o.Namespace = "i", "space"
			bundle, _, _ := strings.Cut(name, " ")
			p, err := format.Load(t.Context(), os.DirFS("testdata/small/"+bundle), o)
			if want.refused != "" {
				if err == nil || !strings.Contains(err.Error(), want.refused) {
					t.Errorf("got %v, want %s", err, want.refused)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var objects []string
			for _, o := range p.Objects {
				objects = append(objects, o.GetKind()+"/"+o.GetName())
			}
			if diff := cmp.Diff(want.objects, objects); diff != "" || p.Format != want.format {
				t.Errorf("%s: %s", p.Format, diff)
			}
			if diff := cmp.Diff(want.warnings, p.Warnings); diff != "" {
				t.Error(diff)
			}
			// in YAML 1.1, that is what y is
			if name == "dk" && p.Objects[0].Object["data"].(map[string]any)["a"] != true {
				t.Errorf("%v", p.Objects[0].Object)
			}
		})
	}
}
