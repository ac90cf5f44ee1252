package chart_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/chart"
)

// What is recorded of a chart is what was read of it: a template that puts a value into all that
// it can reach changes nothing of it, and a record that is in itself, or doubles, could not be
// written.
func TestTemplatesLeaveTheRecord(t *testing.T) {
	const dependencies = "dependencies:\n- name: b\n  version: 1.0.0\n  tags: [t]\n  import-values:\n" +
		"  - {child: a, parent: b}\n"
	recorded := func(text string) string {
		r, err := chart.Load(t.Context(), made(map[string]string{
			"Chart.yaml":  "apiVersion: v2\nname: a\nversion: 1.0.0\nannotations: {a: b}\n" + dependencies,
			"values.yaml": "a: {b: [{c: d}]}\nglobal: {g: {h: 1}}\n",
			"files/a":     "a",
			"charts/b/Chart.yaml": "apiVersion: v2\nname: b\nversion: 1.0.0\n" +
				strings.ReplaceAll(dependencies, "name: b", "name: d"),
			"charts/b/values.yaml": "a: {b: {c: d}}\n",

			"charts/b/charts/d/Chart.yaml": "apiVersion: v2\nname: d\nversion: 1.0.0\n",
			"charts/b/templates/b.yaml":    text,
			"templates/a.yaml":             text + object,
			"templates/_spoil.tpl": `{{ define "spoil" }}{{ range $k, $v := . }}` +
				`{{ if and (ne (toString $k) "endless") (or (kindIs "map" $v) (kindIs "slice" $v)) }}` +
				`{{ include "spoil" $v }}{{ end }}{{ end }}` +
				`{{ if or (typeIs "map[string]interface {}" .) (typeIs "chart.Values" .) }}` +
				`{{ $_ := set . "endless" . }}{{ end }}{{ end }}`,
		}), chart.Options{Values: []byte("x: {y: [{z: 1}]}\n")})
		if err != nil {
			t.Fatal(problems(t, err))
		}
		record := []any{r.Values}
		for _, c := range append(r.Chart.Dependencies(), r.Chart) {
			c.Templates = nil // which are what differs
			record = append(record, c)
		}
		out, err := json.Marshal(record)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return string(out)
	}
	plain := recorded("{{ print }}")
	for _, text := range []string{
		`{{ include "spoil" (pick . "Values" "Subcharts" "Release") }}` +
			`{{ $_ := get .Values.a "endless" | required "it is not spoiled" }}`,
		`{{ range .Chart.Dependencies }}{{ include "spoil" .ImportValues }}{{ end }}`,
		`{{ $d := first .Chart.Dependencies }}{{ $_ := merge (dict "a" $d) (dict "a" (dict "x" 1)) }}`,
		`{{ $d := first .Chart.Dependencies }}{{ $c := deepCopy $d }}{{ $_ := mergeOverwrite (dict "a" $d) ` +
			`(dict "a" $c) }}`,
	} {
		if diff := cmp.Diff(plain, recorded(text)); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
	}
}
