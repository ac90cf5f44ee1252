package release

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chart"
)

// chartOf is a chart of templates, with values of its own and two files.
func chartOf(templates map[string]string) *chart.Chart {
	c := Plain("test", "1.0.0")
	c.Values = map[string]any{"name": "own", "deep": map[string]any{"a": "own a", "b": "own b"}, "list": []any{"own"}}
	c.Files = []*chart.File{{Name: "one.txt", Data: []byte("first\n  file\n")}, {Name: "two.txt", Data: []byte("second")}}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		c.Templates = append(c.Templates, &chart.File{Name: "templates/" + name, Data: []byte(templates[name])})
	}
	return c
}

// Each thing that a template can do gives what it gives with Helm.
func TestTemplatesAreFilledAsHelmDoes(t *testing.T) {
	values := map[string]any{
		"int": 3, "int64": int64(4), "float": 5.9, "none": nil, "empty": "", "text": `say "hi"`,
		"long": strings.Repeat("x", 70),
		"name": "given", "deep": map[string]any{"a": "given a", "c": map[string]any{"d": 1}}, "list": []any{"given"},
		"false": false,
	}
	for name, expression := range map[string]string{
		"a given value":                `{{ .Values.name }}`,
		"a table is merged":            `{{ toYaml .Values.deep | nindent 2 }}`,
		"a list is not":                `{{ toYaml .Values.list | nindent 2 }}`,
		"nothing":                      `{{ .Values.missing }}`,
		"quoted":                       `{{ quote .Values.text }}`,
		"a number in quotes":           `{{ quote .Values.float }}`,
		"nothing in quotes":            `{{ quote .Values.none }}`,
		"a sum of whole numbers":       `{{ add .Values.int .Values.int64 }}`,
		"a sum with a fraction":        `{{ add 1 .Values.float }}`,
		"a default for nothing":        `{{ default "other" .Values.missing }}`,
		"a default for an empty text":  `{{ default "other" .Values.empty }}`,
		"a default for no":             `{{ default "other" .Values.false }}`,
		"a default that is not needed": `{{ default "other" .Values.name }}`,
		"a list that grows":            `{{ $a := list 1 2 }}{{ $b := append $a 3 }}{{ $c := append $a 4 }}{{ toYaml (list $a $b $c) | nindent 2 }}`,
		"trimmed":                      `{{ trim "  a b \n" | quote }}`,
		"cut":                          `{{ trunc 63 .Values.long }}`,
		"cut, but short":               `{{ trunc 63 .Values.name }}`,
		"a digest":                     `{{ sha256sum .Values.name }}`,
		"a file":                       `{{ quote (.Files.Get "one.txt") }}`,
		"another file":                 `{{ quote (.Files.Get "two.txt") }}`,
		"no file":                      `{{ quote (.Files.Get "three.txt") }}`,
		"a template of its own":        `{{ include "own" .Values.name }}`,
		"what cannot be called":        `{{ include "unknown" . }}`,
		"what is not YAML":             `a: b: c`,
		"what is no object":            `[}`,
		"what is not a template":       `{{ end }}`,
		"a function that fails":        `{{ index .Values.list 7 }}`,
		"a function that there is not": `{{ nonsense 1 }}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := chartOf(map[string]string{
				"_own.tpl": `{{ define "own" }}<{{ . }}>{{ end }}`,
				"a.yaml":   "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata:\n  a: " + expression + "\n",
			})
			want, wantErr := withHelm(c, values)
			documents, err := fill(c, values)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%v, Helm says %v", err, wantErr)
			}
			var got strings.Builder
			for _, d := range documents {
				got.WriteString("---\n# Source: " + d.path + "\n" + d.content + "\n")
			}
			if diff := cmp.Diff(want, got.String()); diff != "" {
				t.Errorf("(-helm +berth):\n%s", diff)
			}
		})
	}
}

// Objects are in the order in which Helm installs them: by kind, then by file, then as they are
// in the file.
func TestOrderOfDocuments(t *testing.T) {
	object := func(kind, name string) string {
		return "---\napiVersion: v1\nkind: " + kind + "\nmetadata: {name: \"" + name + "\"}\n"
	}
	c := chartOf(map[string]string{
		"a.yaml": object("Pod", "1") + object("Certificate", "1") + object("Service", "2") + object("Service", "1"),
		"b.yaml": object("ConfigMap", "1") + object("PersistentVolumeClaim", "1") + object("NetworkPolicy", "1"),
		"c.yaml": object("ConfigMap", "0") + object("Service", "0"),
	})
	c.Values = nil
	slices.Reverse(c.Templates)
	documents, err := fill(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range documents {
		got = append(got, d.object.GetKind()+" "+d.object.GetName())
	}
	want := []string{
		"NetworkPolicy 1", "ConfigMap 1", "ConfigMap 0", "PersistentVolumeClaim 1",
		"Service 2", "Service 1", "Service 0", "Pod 1", "Certificate 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Only a table is merged with a table, and null removes.
func TestMerged(t *testing.T) {
	defaults := map[string]any{"a": map[string]any{"b": "c"}, "d": "e", "f": "g", "i": "j"}
	table := map[string]any{"k": nil} // of which nothing is removed
	got := merged(defaults, map[string]any{"a": "text", "d": nil, "h": nil, "i": table})
	if diff := cmp.Diff(map[string]any{"a": "text", "f": "g", "i": table}, got); diff != "" || len(defaults) != 4 {
		t.Errorf("%v: %s", defaults, diff)
	}
}

// Only numbers are added.
func TestAdd(t *testing.T) {
	if _, err := add(1, "2"); err == nil || err.Error() != "2 is not a number" {
		t.Error(err)
	}
	if _, err := add(nil, 2); err == nil {
		t.Error("nothing is added")
	}
}
