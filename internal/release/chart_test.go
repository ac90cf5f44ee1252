package release

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/chart"
)

// chartOf is a chart of templates, with values of its own and two files.
func chartOf(templates map[string]string) *helmchart.Chart {
	c := Plain("test", "1.0.0")
	c.Values = map[string]any{"name": "own", "deep": map[string]any{"a": "own a", "b": "own b"}, "list": []any{"own"}}
	c.Files = []*helmchart.File{
		{Name: "one.txt", Data: []byte("first\n  file\n")},
		{Name: "two.txt", Data: []byte("second")},
	}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		c.Templates = append(c.Templates, &helmchart.File{Name: "templates/" + name, Data: []byte(templates[name])})
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
		"a list that grows": `{{ $a := list 1 2 }}{{ $b := append $a 3 }}{{ $c := append $a 4 }}{{ toYaml ` +
			`(list $a $b $c) | nindent 2 }}`,
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
			got, err := chart.Fill(c, values)
			if (err != nil) != (wantErr != nil) {
				t.Fatalf("%v, Helm says %v", err, wantErr)
			}
			if err == nil && got.Manifest != want {
				t.Errorf("(-helm +berth):\n%s", cmp.Diff(want, got.Manifest))
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
	rendered, err := chart.Fill(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, object := range rendered.Objects {
		got = append(got, object.GetKind()+" "+object.GetName())
	}
	want := []string{
		"NetworkPolicy 1", "ConfigMap 1", "ConfigMap 0", "PersistentVolumeClaim 1",
		"Service 2", "Service 1", "Service 0", "Pod 1", "Certificate 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Only a table is merged with a table, and null removes; the chart's own values stay as they are.
func TestMerged(t *testing.T) {
	c := chartOf(map[string]string{
		"a.yaml": "kind: ConfigMap\napiVersion: v1\nmetadata: {name: a}\ndata: {{- toYaml .Values | nindent 2 }}\n",
	})
	c.Values = map[string]any{
		"a": map[string]any{"b": "c"}, "d": "e", "f": "g", "i": "j",
		"l": map[string]any{"m": "n"},
	}
	values := map[string]any{
		"a": "text", "d": nil, "i": map[string]any{"k": nil}, // of which nothing is removed
		"l": map[string]any{"m": nil, "o": "p"},
	}
	want := map[string]any{"a": "text", "f": "g", "i": map[string]any{"k": nil}, "l": map[string]any{"o": "p"}}
	rendered, err := chart.Fill(c, values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, rendered.Objects[0].Object["data"]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(c.Values) != 5 || len(values) != 4 || len(rendered.Values) != 4 {
		t.Errorf("%v, %v", c.Values, rendered.Values)
	}
	if byHelm, err := withHelm(c, values); err != nil || byHelm != rendered.Manifest {
		t.Errorf("%v (-helm +berth):\n%s", err, cmp.Diff(byHelm, rendered.Manifest))
	}
}

// A null that has no default to remove is not in the objects; what is recorded are the values as they were given.
func TestIdleNulls(t *testing.T) {
	parse := func(context string) (values map[string]any) {
		if err := yaml.Unmarshal([]byte(strings.Replace(benchValues, "{runAsUser: 1000, runAsNonRoot: true}", context,
			1)),
			&values); err != nil {
			t.Fatal(err)
		}
		return values
	}
	want, err := Render(parse("{runAsNonRoot: true}"))
	if err != nil {
		t.Fatal(err)
	}
	values := parse("{runAsUser: null, runAsNonRoot: true}")
	got, err := Render(values)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Manifest, got.Manifest); diff != "" {
		t.Errorf("(-without +with a null):\n%s", diff)
	}
	if diff := cmp.Diff(values, got.Values); diff != "" {
		t.Errorf("the values are others: %s", diff)
	}
}

const benchValues = `
id: alice-1
labels: {a: "1", b: "yes", c: "0x1F", k8shell.io/canonical-id: alice-1}
image: registry.example.com/dev:1
imagePullSecrets: [one, two]
env: {A: "1", B: "quote \" and\nnewline é", C: "<no value>", D: ""}
resources: {cpu: 500m, memory: 1Gi}
securityContext: {runAsUser: 1000, runAsNonRoot: true}
networkPolicy: {name: alice-1, spec: {podSelector: {}, policyTypes: [Egress]}}
storages:
  - name: home
    type: claim
    path: /home/dev
    owner: "1000:1000"
    claim: alice-1-home
    claimSpec: {accessModes: [ReadWriteOnce]}
    annotations: {backup: daily}
  - {name: data, type: claim, path: /data, readonly: true, claim: data-of-alice}
initScripts: [{file: 01-one, script: "echo 1\n---\necho 2"}, {file: 02-two, script: ""}]
home: {path: /home/dev, storage: home, workingDir: /home/dev}
helper:
  image: registry.example.com/git:1
  env: {https_proxy: "http://proxy"}
  asRoot: {runAsUser: 0}
  asUser: {runAsUser: 1000}
repository: {url: https://git.example.com/org/proj.git, ref: main, name: proj, apart: true, kept: "", inWorkspace: true}
gitSecret: alice-1-git
names: {config: alice-1-config, initScripts: alice-1-init, extFiles: alice-1-files}
`

func BenchmarkRender(b *testing.B) {
	var values map[string]any
	_ = yaml.Unmarshal([]byte(benchValues), &values)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Render(values); err != nil {
			b.Fatal(err)
		}
	}
}
