//go:build e2e

package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
)

// endless are templates that compute for ever, or would take all memory; some did in a few
// seconds before a rendering had bounds. An error that printed a value in itself took the stack
// of the server, which nothing recovers.
func endless() []string {
	return []string{
		`{{ range 1000000000000 }}{{ end }}`,
		`{{ range until 100000 }}{{ range until 100000 }}{{ $x := add 1 2 }}{{ end }}{{ end }}`,
		`{{ range until 100000 }}{{ $x := genPrivateKey "rsa" }}{{ end }}`,
		`{{ range until 100000 }}{{ $x := bcrypt "a" }}{{ end }}`,
		`{{ range until 100000 }}{{ $x := derivePassword 1 "long" "a" "b" "c" }}{{ end }}`,
		`{{ $d := dict }}{{ range $j := until 1000 }}{{ range $i := until 100000 }}` +
			`{{ $_ := set $d (printf "%d-%d" $i $j) (list 1 2 3 4) }}{{ end }}{{ end }}`,
		`{{ $x := wrapWith 1 (repeat 10000 "x") (repeat 1000000 "y") }}`,
		`{{ $x := split "," (repeat 16000000 ",") }}`,
		`{{ $l := list }}{{ range until 100 }}{{ $l = append $l (split "," (repeat 900000 ",")) }}{{ end }}`,
		`{{ $l := list }}{{ range until 10000 }}{{ $l = append $l (repeat 1000000 "x") }}{{ end }}`,
		`{{ $d := dict }}{{ $_ := set $d "a" $d }}{{ eq $d $d }}`,
		`{{ $d := dict }}{{ $_ := set $d "a" (list $d) }}{{ range until 3 }}{{ $x := add1 $d }}{{ end }}`,
		`{{ $d := dict }}{{ range until 40 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ $x := int $d }}`,
	}
}

// chartOf is an instance of a chart with one template, which is in ConfigMaps, with these.
func (w *world) chartOf(name, text string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: ConfigMap
metadata: {name: %[1]s-chart}
immutable: true
data:
  Chart.yaml: "{apiVersion: v2, name: c, version: 1.0.0}"
---
apiVersion: v1
kind: ConfigMap
metadata: {name: %[1]s-templates}
immutable: true
data:
  a.yaml: |
    %[2]s
---
apiVersion: core.rukpak.io/v1alpha1
kind: BundleInstance
metadata: {name: %[1]s}
spec:
  provisionerClassName: berth-dev-helm
  config: {namespace: %[3]s}
  template:
    spec:
      provisionerClassName: berth-dev-helm
      source:
        type: configMaps
        configMaps:
        - {configMap: {name: %[1]s-chart}, path: .}
        - {configMap: {name: %[1]s-templates}, path: templates}
`, name, strings.ReplaceAll(text, "\n", "\n    "), w.namespace)
}

// Charts that do not end, or would take all memory, keep no other one waiting: what is refused
// is said on their instances, and the server goes on.
func testServeEndlessCharts(t *testing.T) {
	w := newServing(t, "cluster-admin")
	w.leads(v1alpha1.ClassHelm)
	var bad []string
	var documents []string
	for i, text := range endless() {
		name := fmt.Sprintf("%s-bad-%d", w.instance(), i)
		bad = append(bad, name)
		documents = append(documents, w.chartOf(name, text))
	}
	t.Cleanup(func() {
		w.kubectl(append([]string{"delete", "bundleinstances.core.rukpak.io", "--wait=false", "--ignore-not-found"},
			bad...)...)
	})
	w.apply(documents...)
	begun := time.Now()
	w.apply(w.chartOf(w.instance(), configMap("good", "here")))
	w.installedBundle()
	w.says(map[string]string{"good": "here"})
	t.Logf("the good chart was installed after %s", time.Since(begun))
	judged := func(name string) bool {
		in, err := w.objects().Instance(t.Context(), name)
		if err != nil || in == nil {
			return false
		}
		c := meta.FindStatusCondition(in.Status.Conditions, v1alpha1.ConditionHasValidBundle)
		if c == nil || c.Reason != v1alpha1.ReasonBundleLoadFailed {
			return false
		}
		if !strings.Contains(c.Message, "c/templates/a.yaml") {
			t.Errorf("instance %s says %q", name, c.Message)
		}
		return true
	}
	if !slices.ContainsFunc(bad, func(name string) bool { return !judged(name) }) {
		t.Error("the good chart waited for all the others")
	}
	for _, name := range bad {
		w.eventually("instance "+name+" says why", func() bool { return judged(name) })
	}
	for _, pod := range w.servers() {
		w.confined(&pod)
	}
}
