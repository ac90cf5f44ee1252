package chart_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/fault"
)

// made makes a chart of files.
func made(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{"Chart.yaml": {Data: []byte("apiVersion: v2\nname: c\nversion: 1.0.0\n")}}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// template is a chart with one template.
func template(text string) fstest.MapFS { return made(map[string]string{"templates/a.yaml": text}) }

// problems are those of an error.
func problems(t *testing.T, err error) []string {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.InvalidArgument {
		t.Fatalf("error %#v is no INVALID_ARGUMENT", err)
	}
	if len(f.Problems) > 0 {
		return append([]string{f.Message}, f.Problems...)
	}
	return []string{f.Message}
}

const object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// TestBounds shows templates that would never end, or take all memory, or the whole stack.
func TestBounds(t *testing.T) {
	double := strings.Repeat("{{ $x = list $x $x }}", 60)
	for name, test := range map[string]struct{ text, want string }{
		"text without end": {
			`{{ $x := "x" }}{{ range until 100 }}{{ $x = printf "%s%s" $x $x }}{{ end }}`,
			"printf: makes too much",
		},
		"output": {
			`{{ range until 100 }}{{ repeat 1000000 "x" }}{{ end }}`,
			"the templates make too much text",
		},
		"in a template": {
			`{{ define "a" }}{{ repeat 10000000 "x" }}{{ end }}{{ template "a" }}{{ template "a" }}`,
			"the templates make too much text",
		},
		"repeat":    {`{{ repeat 1000000000000 "xy" }}`, "repeat: makes too much"},
		"indent":    {`{{ indent 100000000 "a" }}`, "indent: makes too much"},
		"until":     {`{{ until 1000000000 }}`, "until: makes too much"},
		"untilStep": {`{{ untilStep 0 1000000000 1 }}`, "untilStep: makes too much"},
		"seq":       {`{{ seq 1 1000000000 }}`, "seq: makes too much"},
		"random":    {`{{ randAlphaNum 1000000000 }}`, "randAlphaNum: makes too much"},
		"replace":   {`{{ replace "" (repeat 10000 "x") (repeat 10000 "x") }}`, "replace: makes too much"},
		"regex": {
			`{{ regexReplaceAll "" (repeat 10000 "x") (repeat 10000 "x") }}`,
			"regexReplaceAll: makes too much",
		},
		"join": {`{{ join (repeat 10000 "x") (until 10000) }}`, "join: makes too much"},
		"a list that grows": {
			`{{ $x := list 1 }}{{ range until 100 }}{{ $x = concat $x $x }}{{ end }}`,
			"concat: makes too many items",
		},
		"doubled and written": {`{{ $x := "x" }}` + double + `{{ toYaml $x }}`, "a value is too large"},
		"doubled and printed": {`{{ $x := "x" }}` + double + `{{ $x }}`, "a value is too large"},
		"doubled and quoted":  {`{{ $x := "x" }}` + double + `{{ quote $x }}`, "a value is too large"},
		"in itself, written":  {`{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ toJson $d }}`, "a value is too large"},
		"in itself, printed":  {`{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ $d }}`, "a value is too large"},
		"in itself, merged": {
			`{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ merge (dict) $d }}`,
			"a value is too large",
		},
		"include without end": {
			`{{ define "a" }}{{ include "a" . }}{{ end }}{{ include "a" . }}`,
			"templates include each other without end: a",
		},
		"template without end": {
			`{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}`,
			"templates include each other without end: a",
		},
		"both without end": {`{{ define "a" }}{{ template "b" . }}{{ end }}{{ define "b" }}{{ include "a" . }}{{ end ` +
			`}}{{ template "a" . }}`, "templates include each other without end"},
		"tpl without end": {`{{ tpl (.Files.Get "t") . }}`, "makes too much"},
		"blocks inside each other": {
			strings.Repeat("{{ if true }}", 10_000) + strings.Repeat("{{ end }}", 10_000),
			"blocks and pipelines nested more than 200 deep",
		},
		"pipelines inside": {
			"{{ print " + strings.Repeat("(print ", 5_000) + strings.Repeat(")", 5_000) + "}}",
			"blocks and pipelines nested more than 200 deep",
		},
		"blocks in tpl": {
			`{{ tpl (print (repeat 1000 "{{ if true }}") (repeat 1000 "{{ end }}")) . }}`,
			"blocks and pipelines nested more than 200 deep",
		},
		"a bomb of YAML": {"{{ fromYaml (.Files.Get \"bomb\") | toYaml }}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := template(test.text)
			fsys["t"] = &fstest.MapFile{Data: []byte(`{{ tpl (.Files.Get "t") . }}`)}
			fsys["bomb"] = &fstest.MapFile{Data: []byte("a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" +
				strings.Repeat("*a,", 100) + "]")}
			_, err := chart.Load(t.Context(), fsys, chart.Options{})
			if got := problems(t, err); !strings.Contains(got[0], test.want) {
				t.Fatal(got)
			}
		})
	}
}

func TestEndsWithTheContext(t *testing.T) {
	for name, text := range map[string]string{
		"an empty loop":    `{{ range 1000000000000 }}{{ end }}`,
		"loops in loops":   `{{ $n := until 100000 }}{{ range $n }}{{ range $n }}{{ $x := 1 }}{{ end }}{{ end }}`,
		"functions":        `{{ $n := until 100000 }}{{ range $n }}{{ $x := genPrivateKey "rsa" }}{{ end }}`,
		"many short texts": `{{ define "a" }}{{ end }}{{ range 1000000000000 }}{{ template "a" }}{{ end }}`,
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			if _, err := chart.Load(ctx, template(text), chart.Options{}); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		files  map[string]string
		values string
		o      chart.Options
		want   []string
	}{
		"a library": {
			files: map[string]string{"Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\ntype: library\n"},
			want:  []string{"invalid chart c: a chart of type library cannot be installed, only used by others"},
		},
		"what it needs": {
			files: map[string]string{"Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\nkubeVersion: '>=1.30'\n" +
				"dependencies: [{name: db, version: 1}, {name: mq, version: 1}]\n"},
			o: chart.Options{Capabilities: chart.Capabilities{Version: "v1.29.3"}},
			want: []string{
				"invalid chart c", "charts/ lacks what Chart.yaml depends on: db, mq: run helm dependency build",
				"kubeVersion: requires Kubernetes >=1.30, this is v1.29.3",
			},
		},
		"no version": {
			files: map[string]string{"Chart.yaml": "apiVersion: v2\nname: c\n"},
			want:  []string{"invalid chart: validation: chart.metadata.version is required"},
		},
		"no YAML": {
			files: map[string]string{"values.yaml": "a: ["},
			want: []string{"invalid chart: cannot load values.yaml: error converting YAML to JSON: yaml: line 1: did " +
				"not find expected node content"},
		},
		"a bomb as values": {
			files: map[string]string{"values.yaml": "a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" +
				strings.Repeat("*a,", 100) + "]"},
			want: []string{"invalid chart: values.yaml: larger than 2 MiB with its aliases expanded"},
		},
		"values that are none": {values: "- 1", want: []string{"invalid values: values: must be a mapping"}},
		"values that do not fit": {
			files: map[string]string{
				"values.schema.json":               `{"properties": {"a": {"type": "string"}, "b": {"minimum": 3}}}`,
				"charts/sub/Chart.yaml":            "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
				"charts/sub/values.schema.json":    `{"required": ["x"]}`,
				"charts/remote/Chart.yaml":         "apiVersion: v2\nname: remote\nversion: 1.0.0\n",
				"charts/remote/values.schema.json": `{"$ref": "https://example.com/x.json"}`,
			},
			values: "{a: 1, b: 2}",
			want: []string{
				"the values do not fit chart c", `values.a: must be string, is 1`,
				"values.b: must be at least 3, is 2", "values.sub.x: required",
			},
		},
		"all that templates say": {
			files: map[string]string{
				"templates/a.yaml": `{{ required "a is required" .Values.a }}`,
				"templates/b.yaml": "\n  {{ fail \"no\" }}",
				"templates/c.yaml": `{{ include "absent" . }}`,
				"templates/_h.tpl": `{{ define "h" }}{{ fail "in a helper" }}{{ end }}`,
				"templates/d.yaml": `{{ include "h" . }}`,
				"templates/e.yaml": "\n\n{{ if true }}{{ template \"h\" . }}{{ end }}",
			},
			want: []string{
				"chart c cannot be rendered", "c/templates/e.yaml:3:2: in a helper",
				"c/templates/d.yaml:1:3: in a helper",
				`c/templates/c.yaml:1:3: executing "c/templates/c.yaml" at <include "absent" .>: error calling ` +
					`include: template: no template "absent" associated with template "gotpl"`,
				"c/templates/b.yaml:2:5: no", "c/templates/a.yaml:1:3: a is required",
			},
		},
		"what they make": {
			files: map[string]string{
				"templates/a.yaml": object + "---\n" + strings.Replace(object, "name: a", "x: y", 1) + "---\na: [",
				"templates/b.yaml": "text",
				"templates/c.yaml": object, "crds/a.yaml": "kind: x",
			},
			want: []string{
				"chart c cannot be rendered",
				"c/crds/a.yaml:1: x: apiVersion: required", "c/crds/a.yaml:1: x: metadata.name: required",
				"c/templates/a.yaml:5: ConfigMap: metadata.name: required",
				"c/templates/a.yaml:9: did not find expected node content",
				"c/templates/b.yaml:1: must be an object, is text",
				"c/templates/c.yaml:1: ConfigMap a: defined twice (first at c/templates/a.yaml:1)",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.o.Values = []byte(test.values)
			_, err := chart.Load(t.Context(), made(test.files), test.o)
			if diff := cmp.Diff(test.want, problems(t, err)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	pod := func(name, hook string) string {
		return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s, annotations: {helm.sh/hook: %s}}\n---\n",
			name, hook)
	}
	r, err := chart.Load(t.Context(), made(map[string]string{
		"Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\ndeprecated: true\n",
		"charts/remote/Chart.yaml": "apiVersion: v2\nname: remote\nversion: 1.0.0\n" +
			"dependencies: [{name: absent, version: 1}]\n",
		"charts/remote/values.schema.json": `{"$ref": "https://example.com/x.json"}`,
		"templates/a.yaml": pod("test", "test") + pod("old", "crd-install") + pod("one", "pre-install") +
			pod("one", "post-install"),
	}), chart.Options{})
	if err != nil {
		t.Fatal(problems(t, err))
	}
	want := []string{
		"chart c is deprecated",
		"subchart remote: charts/ lacks what its Chart.yaml depends on: absent",
		"c/charts/remote/values.schema.json: values are not checked against https://example.com/x.json, " +
			"which is not fetched",
		"c/templates/a.yaml: Pod test is left out, as tests are not run",
		`c/templates/a.yaml: Pod old is left out, as the event "crd-install" of its hook is unknown`,
	}
	if diff := cmp.Diff(want, r.Warnings); diff != "" || len(r.Hooks) != 2 {
		t.Fatal(diff, r.Hooks)
	}
}

func TestLookup(t *testing.T) {
	text := object + `data: {found: {{ dig "data" "x" "" (lookup "v1" "Secret" "n" "s") | quote }}, none: {{ lookup ` +
		`"v1" "Secret" "n" "absent" | len | quote }}}`
	load := func(lookup chart.Lookup) (any, error) {
		r, err := chart.Load(t.Context(), template(text), chart.Options{Lookup: lookup})
		if err != nil {
			return nil, err
		}
		return r.Objects[0].Object["data"], nil
	}
	got, err := load(func(_ context.Context, apiVersion, kind, namespace, name string) (map[string]any, error) {
		if name != "s" || apiVersion+kind+namespace != "v1Secretn" {
			return nil, nil
		}
		return map[string]any{"data": map[string]any{"x": "there"}}, nil
	})
	if diff := cmp.Diff(any(map[string]any{"found": "there", "none": "0"}), got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if got, err = load(nil); err != nil || !cmp.Equal(got, any(map[string]any{"found": "", "none": "0"})) {
		t.Error(got, err)
	}
	_, err = load(func(context.Context, string, string, string, string) (map[string]any, error) {
		return nil, errors.New("forbidden")
	})
	if err == nil || !strings.Contains(err.Error(), "forbidden") {
		t.Error(err)
	}
}

// packed is an archive as helm package makes it.
func packed(t *testing.T, files map[string]string) string {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	archive := tar.NewWriter(zip)
	for name, text := range files {
		if err := errors.Join(archive.WriteHeader(&tar.Header{Name: name, Size: int64(len(text)), Mode: 0o600}),
			second(archive.Write([]byte(text)))); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(archive.Close(), zip.Close()); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func second(_ int, err error) error { return err }

func TestArchivesOfSubcharts(t *testing.T) {
	inner := packed(t, map[string]string{
		"inner/Chart.yaml":       "apiVersion: v2\nname: inner\nversion: 1.0.0\n",
		"inner/templates/a.yaml": strings.Replace(object, "name: a", "name: inner", 1),
	})
	sub := map[string]string{
		"sub/Chart.yaml":       "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
		"sub/templates/a.yaml": strings.Replace(object, "name: a", "name: sub", 1), "sub/charts/inner-1.0.0.tgz": inner,
	}
	r, err := chart.Load(t.Context(), made(map[string]string{"charts/sub-1.0.0.tgz": packed(t, sub)}), chart.Options{})
	if err != nil {
		t.Fatal(problems(t, err))
	}
	var names []string
	for _, o := range r.Objects {
		names = append(names, o.GetName())
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"inner", "sub"}) {
		t.Error(names)
	}

	large := map[string]string{"sub/Chart.yaml": sub["sub/Chart.yaml"]}
	for i := range 10 {
		large[fmt.Sprintf("sub/%d", i)] = strings.Repeat("x", 5<<20)
	}
	bomb := packed(t, large)
	_, err = chart.Load(t.Context(), made(map[string]string{"charts/a.tgz": bomb, "charts/b.tgz": bomb}),
		chart.Options{Time: time.Hour}) // it is the size that ends it, on a busy machine, too
	if got := problems(t, err); got[0] != "invalid chart: larger than 64 MiB" {
		t.Error(got)
	}
	_, err = chart.Load(t.Context(),
		made(map[string]string{"charts/a.tgz": packed(t, map[string]string{"a/../../x": "y"})}), chart.Options{})
	if got := problems(t, err); !strings.Contains(got[0], "illegally") {
		t.Error(got)
	}
}

func FuzzChart(f *testing.F) {
	for _, seed := range []string{
		"a: 1", "{a: {b: [1, {c: d}]}, sub: {x: null}}", "sub: 1", "tags: {t: false}",
		"global: {a: {b: c}}", "a: '{{ . }}'", "sub: {on: false}", "&a [*a]",
	} {
		f.Add([]byte(seed), `{{ tpl (toYaml .Values) . | nindent 2 }}`)
	}
	f.Add([]byte("a: x"), `{{ range $k, $v := .Values }}{{ $k }}: {{ $v | quote }}{{ end }}`)
	f.Add([]byte("a: x"), `{{ template "x" . }}{{ define "x" }}{{ include "y" . }}{{ end }}{{ with .Values }}{{ .a `+
		`}}{{ else }}b{{ end }}`)
	f.Add([]byte("a: x"), `{{ $_ := set .Values "a" . }}{{ $_ = set .Values "b" (list .) }}{{ with .Values }}{{ `+
		`.a.Values | toString | trunc 9 }}{{ end }}{{ eq . . }}`)
	f.Fuzz(func(t *testing.T, values []byte, text string) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		r, err := chart.Load(ctx, made(map[string]string{
			"Chart.yaml": "apiVersion: v2\nname: c\nversion: 1.0.0\n" +
				"dependencies: [{name: sub, version: 1.x.x, condition: sub.on, tags: [t], import-values: [x]}]\n",
			"values.yaml": "a: {b: c}\nglobal: {g: 1}\n",
			"values.schema.json": `{"properties": {"a": {"anyOf": [{"type": "object"}, {"$ref": "#/$defs/d"}]}}, ` +
				`"$defs": {"d": {"type": ["string", "array"], "items": {"minLength": 1}}}}`,
			"charts/sub/Chart.yaml":  "apiVersion: v2\nname: sub\nversion: 1.0.0\n",
			"charts/sub/values.yaml": "exports: {x: {y: z}}\nx: 1\n",
			"templates/a.yaml":       object + "data:\n  v: {{ toJson .Values | quote }}\n---\n" + text,
		}), chart.Options{Values: values, Release: chart.Release{Name: "r", Namespace: "n"}})
		if err != nil {
			if f, ok := errors.AsType[*fault.Error](err); ctx.Err() == nil &&
				(!ok || f.Message == "" || f.Code == fault.Internal) {
				t.Fatalf("error %#v", err)
			}
			return
		}
		for _, o := range r.Objects {
			if o.GetAPIVersion() == "" || o.GetKind() == "" || o.GetName() == "" {
				t.Fatalf("an object without apiVersion, kind or name: %v", o.Object)
			}
		}
	})
}

// The charts in a chart are known wherever they lie, and whether they are wanted or not.
func TestChartsInAChart(t *testing.T) {
	const sub = "{apiVersion: v2, name: sub, version: 1.0.0}"
	inner := packed(t, map[string]string{"inner/Chart.yaml": "{apiVersion: v2, name: inner, version: 2.0.0}"})
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"none":        {},
		"a directory": {map[string]string{"charts/x/Chart.yaml": sub}, []string{"sub 1.0.0"}},
		"an archive":  {map[string]string{"charts/x.tgz": inner}, []string{"inner 2.0.0"}},
		"in a chart": {map[string]string{"charts/x/Chart.yaml": sub, "charts/x/charts/y.tgz": inner}, []string{
			"sub 1.0.0", "sub/inner 2.0.0",
		}},
		"switched off": {map[string]string{
			"Chart.yaml": "{apiVersion: v2, name: c, version: 1.0.0, dependencies: [{name: sub, version: 1.0.0, " +
				"condition: sub.on}]}",
			"values.yaml": "sub: {on: false}", "charts/x/Chart.yaml": sub,
		}, []string{"sub 1.0.0"}},
	} {
		r, err := chart.Load(t.Context(), made(test.files), chart.Options{})
		if err != nil || !slices.Equal(r.Charts, test.want) {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
}

// What crds/ defines is there for the templates, as Helm has it in the cluster by then.
func TestKindsOfTheChart(t *testing.T) {
	definition := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
		metadata: {name: boats.example.com}, spec: {group: example.com,
		names: {kind: Boat}, versions: [{name: v1, served: true}, {name: v0, served: false}]}}`
	r, err := chart.Load(t.Context(), made(map[string]string{
		"crds/boats.yaml": definition,
		"templates/a.yaml": object + `data: {a: "{{ range list "example.com/v1" "example.com/v1/Boat" ` +
			`"example.com/v0" "apps/v1" }}` +
			`{{ $.Capabilities.APIVersions.Has . }} {{ end }}"}`,
	}), chart.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, _ := unstructured.NestedString(r.Objects[1].Object, "data", "a"); got != "true true false true " {
		t.Errorf("%q", got)
	}
}

// Hooks of a rollback are recorded for Helm, and it is said that they do not run.
func TestHooksOfRollbacks(t *testing.T) {
	r, err := chart.Load(t.Context(),
		template("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {helm.sh/hook: post-rollback}}\n"),
		chart.Options{})
	if err != nil || len(r.Hooks) != 1 || len(r.Warnings) == 0 ||
		!strings.Contains(r.Warnings[0], "does not run at post-rollback") {
		t.Errorf("%+v, %v", r, err)
	}
}

// A chart as large as charts are, with ten megabytes of objects that are written by way of
// include, tpl, toYaml, fromYaml and nindent, stays far within the memory that a chart may take.
// (Its time depends on the machine and on the race detector; TestEndsWithTheContext is about time.)
func TestLargeChart(t *testing.T) {
	values := "shared: {app.kubernetes.io/part-of: large, team: some-team}\nitems:\n"
	for i := range 100 {
		values += fmt.Sprintf("  item-%d: {name: item-%d, text: '{{ .Values.shared.team }}', settings: {a: [1, 2, "+
			"three], b: {c: d%d}}}\n", i, i, i)
	}
	files := map[string]string{
		"values.yaml": values,
		"templates/_lib.tpl": `{{ define "labels" }}{{ toYaml .Values.shared }}{{ end }}{{ define "settings" }}{{ ` +
			`$all := merge (deepCopy .item.settings) (dict "by" (include "labels" .top | fromYaml)) }}{{ toYaml ` +
			`$all }}{{ end }}`,
	}
	for i := range 60 {
		files[fmt.Sprintf("templates/%02d.yaml", i)] = fmt.Sprintf(`{{ $names := list }}`+
			`{{ range $key, $item := .Values.items }}{{ $names = append $names $key }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: large-%d-{{ $key }}
  labels:
    {{- include "labels" $ | nindent 4 }}
data:
  team: {{ tpl $item.text $ | quote }}
  text: {{ repeat 1200 "x" | b64enc | quote }}
  settings: |
    {{- include "settings" (dict "item" $item "top" $) | nindent 4 }}
{{ end }}# {{ join "," $names }}
`, i)
	}
	begun := time.Now()
	r, err := chart.Load(t.Context(), made(files), chart.Options{Time: time.Hour})
	if err != nil {
		t.Fatal(problems(t, err))
	}
	t.Logf("%d objects in %d bytes, after %s", len(r.Objects), len(r.Manifest), time.Since(begun))
	if len(r.Objects) != 6000 || len(r.Manifest) < 10<<20 {
		t.Errorf("%d objects in %d bytes", len(r.Objects), len(r.Manifest))
	}
}
