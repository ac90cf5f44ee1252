package format_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/fault"
)

// bundle makes a file system of names and contents.
func bundle(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// problems are those of an error.
func problems(t *testing.T, err error) []string {
	t.Helper()
	f, ok := errors.AsType[*fault.Error](err)
	if !ok || f.Code != fault.InvalidArgument {
		t.Fatalf("error %#v is no INVALID_ARGUMENT", err)
	}
	if len(f.Problems) > 0 {
		return f.Problems
	}
	return []string{f.Message}
}

const configMap = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"

// What an operator registry keeps is not installed as plain manifests, where its ClusterServiceVersion would stay what
// it is; without the annotations of a registry that may be meant, and beside them, so may other manifests.
func TestOperatorAsPlain(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		err   string
	}{
		"an operator bundle": {
			files: map[string]string{"manifests/web.yaml": operatorCSV, "metadata/annotations.yaml": annotations},
			err: "the bundle is of format registry+v1, not plain+v0: ClusterServiceVersion web.v1 in " +
				"manifests/web.yaml stands for objects that plain+v0 would not install",
		},
		"one that is not whole": {
			files: map[string]string{
				"manifests/web.yaml": operatorCSV, "metadata/annotations.yaml": annotations,
				"manifests/a.yaml": "kind: [",
			},
			err: "invalid plain+v0 bundle",
		},
		"its version alone": {files: map[string]string{"manifests/web.yaml": operatorCSV}},
		"manifests with annotations": {
			files: map[string]string{"manifests/a.yaml": configMap, "metadata/annotations.yaml": annotations},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := format.Load(t.Context(), bundle(test.files), format.Options{Format: format.Plain})
			if (err == nil) != (test.err == "") || err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Fatalf("got %v, want %q", err, test.err)
			}
		})
	}
}

func TestRecognize(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  format.Format
		err   string
	}{
		"plain": {files: map[string]string{"manifests/a.yaml": ""}, want: format.Plain},
		"registry": {
			files: map[string]string{"manifests/a.yaml": "", "metadata/annotations.yaml": ""},
			want:  format.Registry,
		},
		"chart at the root": {files: map[string]string{"Chart.yaml": "", "templates/a.yaml": ""}, want: format.Helm},
		"one chart below it": {files: map[string]string{
			"web/Chart.yaml": "", "web/charts/db/Chart.yaml": "",
			"README.md": "",
		}, want: format.Helm},
		"two charts": {
			files: map[string]string{"web/Chart.yaml": "", "db/Chart.yaml": ""},
			err:   "the bundle has several charts: db/Chart.yaml, web/Chart.yaml",
		},
		"a chart beside manifests": {
			files: map[string]string{"Chart.yaml": "", "manifests/a.yaml": ""}, want: format.Helm,
		},
		"a directory with a chart beside manifests": {
			files: map[string]string{"c/Chart.yaml": "", "manifests/a.yaml": ""},
			err:   "the format of the bundle is ambiguous: it has manifests/ and c/Chart.yaml",
		},
		"nothing": {err: "the bundle is empty"},
		"manifests that is no folder": {
			files: map[string]string{"manifests": ""},
			err:   "the format of the bundle is not known: it has manifests",
		},
		"something else": {
			files: map[string]string{"a.txt": "", "deploy/b.md": "", ".hidden/c.yaml": "", ".d.json": ""},
			err:   "the format of the bundle is not known: it has .d.json, .hidden/, a.txt, deploy/",
		},
		"YAML at the root":    {files: map[string]string{"a.yaml": "", "README.md": ""}, want: format.YAML},
		"YAML in directories": {files: map[string]string{"deploy/crds/b.json": "", "Makefile": ""}, want: format.YAML},
		"YAML beside a chart": {files: map[string]string{"c/Chart.yaml": "", "a.yaml": ""}, want: format.Helm},
		"YAML beside manifests": {
			files: map[string]string{"manifests/a.yaml": "", "a.yaml": "", "deploy/b.yaml": ""}, want: format.Plain,
		},
		"YAML beside a bundle": {
			files: map[string]string{"a.yaml": "", "web/manifests/a.yaml": ""},
			err:   "the format of the bundle is not known: it has a.yaml, web/",
		},
		"a kustomization": {
			files: map[string]string{"kustomization.yaml": "", "a.yaml": ""},
			want:  format.Kustomize,
		},
		"one of another name": {
			files: map[string]string{"kustomization.yml": "", "b/a.yaml": ""},
			want:  format.Kustomize,
		},
		"one of the third name": {files: map[string]string{"Kustomization": ""}, want: format.Kustomize},
		"a kustomization beside manifests": {
			files: map[string]string{"kustomization.yaml": "", "manifests/a.yaml": ""},
			err:   "the format of the bundle is ambiguous: it has manifests/ and kustomization.yaml",
		},
		"a kustomization beside a chart": {
			files: map[string]string{"kustomization.yaml": "", "Chart.yaml": ""}, want: format.Helm,
		},
		"a kustomization beside an operator bundle": {
			files: map[string]string{
				"kustomization.yaml": "", "manifests/a.yaml": "", "metadata/annotations.yaml": "",
			},
			want: format.Registry,
		},
		"kustomizations in directories": {
			files: map[string]string{"base/kustomization.yaml": "", "overlays/prod/Kustomization": "", "a.yaml": ""},
			err:   "the bundle has a kustomization in base, overlays/prod, not at its root",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := format.Recognize(bundle(test.files))
			if test.err != "" {
				if err == nil || err.Error() != test.err || fault.From(err).Hint == "" {
					t.Fatalf("got %v, want %s and a hint", err, test.err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Fatalf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

// Read as of a class, what is ambiguous is decided by that; another format stays what it is.
func TestRecognizeAs(t *testing.T) {
	for name, test := range map[string]struct {
		files []string
		class format.Format
		want  format.Format
		err   string
	}{
		"manifests": {[]string{"manifests/a.yaml"}, format.Plain, format.Plain, ""},
		"manifests and a kustomization": {
			[]string{"manifests/a.yaml", "Kustomization"}, format.Plain, format.Plain, "",
		},
		"a kustomization": {[]string{"Kustomization"}, format.Plain, format.Kustomize, ""},
		"YAML":            {[]string{"a.yaml"}, format.Plain, format.YAML, ""},
		"a chart and a kustomization": {
			[]string{"c/Chart.yaml", "Kustomization"}, format.Plain, format.Kustomize, "",
		},
		"a chart, or manifests beside it": {[]string{"c/Chart.yaml", "manifests/a.yaml"}, format.Helm, format.Helm, ""},
		"manifests, or a chart beside it": {
			[]string{"c/Chart.yaml", "manifests/a.yaml"}, format.Plain, format.Plain, "",
		},
		"a chart as plain": {[]string{"Chart.yaml"}, format.Plain, format.Helm, ""},
		"plain as a chart": {[]string{"a.yaml"}, format.Helm, format.YAML, ""},
		"nothing":          {nil, format.Plain, "", "the bundle is empty"},
		"two charts": {
			[]string{"a/Chart.yaml", "b/Chart.yaml"}, format.Helm, "", "the bundle has several charts",
		},
	} {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{}
			for _, name := range test.files {
				files[name] = ""
			}
			got, err := format.RecognizeAs(bundle(files), test.class)
			if got != test.want || (err == nil) != (test.err == "") ||
				err != nil && !strings.HasPrefix(err.Error(), test.err) {
				t.Fatalf("got %s, %v, want %s, %s", got, err, test.want, test.err)
			}
		})
	}
}

func TestRecognizeNamesTheDirectory(t *testing.T) {
	_, err := format.Recognize(bundle(map[string]string{"web-1.0/manifests/a.yaml": configMap}))
	if hint := fault.From(err).Hint; hint != "directory web-1.0 holds a bundle: give that directory" {
		t.Fatalf("hint %q", hint)
	}
}

func TestPlain(t *testing.T) {
	pkg, err := format.Load(t.Context(), bundle(map[string]string{
		"manifests/1.yaml": "# one\n---\n---\n" + configMap +
			"data:\n  text: 'literal {{ .Values.x }} {{'\n---\napiVersion: v1\nkind: Namespace\nmetadata:\n" +
			"  name: space\n  labels: ~\n  annotations: {empty: }\n",
		"manifests/2.json": `{"apiVersion":"v1","kind":"List","items":[` +
			`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","namespace":"n"}},` +
			`{"apiVersion":"v1","kind":"ConfigMapList","items":[{"metadata":{"name":"in a list"}}]}]}` + "\n" +
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p\ud83d\ude00"}, ` +
			`"spec":{"priority": 9007199254740993}}`,
		"manifests/3": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n" +
			"spec: {replicas: 010, paused: yes}\n...\n" + strings.Replace(configMap, "name: a", "name: b", 1),
		"manifests/empty": "%YAML 1.1\n# nothing\n---\n",
	}), format.Options{})
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	var got []string
	for _, object := range pkg.Objects {
		got = append(got, object.GroupVersionKind().String()+" "+object.GetNamespace()+"/"+object.GetName())
	}
	want := []string{
		"/v1, Kind=ConfigMap /a", "/v1, Kind=Namespace /space", "/v1, Kind=Secret n/s",
		"/v1, Kind=ConfigMap /in a list",
		"/v1, Kind=Pod /p😀",
		"apps/v1, Kind=Deployment /a", "/v1, Kind=ConfigMap /b",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatal(diff)
	}
	if text := pkg.Objects[0].Object["data"].(map[string]any)["text"]; text != "literal {{ .Values.x }} {{" {
		t.Errorf("text %q", text)
	}
	if annotations := pkg.Objects[1].GetAnnotations(); len(annotations) != 1 {
		t.Errorf("annotations %v", annotations)
	}
	if priority := pkg.Objects[4].Object["spec"].(map[string]any)["priority"]; priority != int64(9007199254740993) {
		t.Errorf("priority %v", priority)
	}
	// YAML 1.1, as kubectl reads it.
	if diff := cmp.Diff(map[string]any{"replicas": int64(8), "paused": true},
		pkg.Objects[5].Object["spec"]); diff != "" {
		t.Error(diff)
	}
}

func TestPlainProblems(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"all of them together": {
			files: map[string]string{
				"manifests/a.yaml": "apiVersion: v1\n---\nkind: Pod\nmetadata: {name: 1}\n---\n# a text\nhello\n---\n" +
					"- 1\n",
				"manifests/b.yaml": "a: [\n---\napiVersion: v1\nkind: Pod\nmetadata:\n  generateName: a\n" +
					"  labels: {a: 1, b: true}\n  annotations: []\n",
				"manifests/c.yaml": configMap + "kind: Pod\n",
				"manifests/d/x":    "",
				"manifests/e.json": `{"apiVersion": "v1", "apiVersion": "v1", "kind": "Pod", "metadata": {"name": ` +
					`"../x", "namespace": 7}}`,
				"manifests/f.yaml": "apiVersion: v1\nkind: List\nitems: {}\n",
				"manifests/g.yaml": "apiVersion: a/b/c\nkind: 7\nmetadata: x",
				"manifests/h.yaml": "a: \xff",
			},
			want: []string{
				"manifests/a.yaml:1: kind: required",
				"manifests/a.yaml:1: metadata.name: required",
				"manifests/a.yaml:3: Pod: apiVersion: required",
				"manifests/a.yaml:3: Pod: metadata.name: must be a string, is a number: quote it",
				"manifests/a.yaml:7: must be an object, is text",
				"manifests/a.yaml:9: must be an object, is a list",
				"manifests/b.yaml:1: did not find expected node content",
				"manifests/b.yaml:3: Pod: metadata.name: required: generateName makes another object each time",
				"manifests/b.yaml:3: Pod: metadata.labels.a: must be a string, is a number: quote it",
				"manifests/b.yaml:3: Pod: metadata.labels.b: must be a string, is true or false: quote it",
				"manifests/b.yaml:3: Pod: metadata.annotations: must be a mapping, is a list",
				"manifests/d/: manifests/ must be flat: move its files up",
				`manifests/e.json:1: Pod ../x: metadata.name: invalid name "../x": may not contain '/'`,
				"manifests/e.json:1: Pod ../x: metadata.namespace: must be a string, is a number: quote it",
				"manifests/f.yaml:1: List: metadata.name: required",
				`manifests/g.yaml:1: invalid apiVersion "a/b/c"`,
				"manifests/g.yaml:1: kind: must be a string, is a number",
				"manifests/g.yaml:1: metadata: must be a mapping, is text",
				"manifests/h.yaml: not UTF-8 text",
			},
		},
		"directories": {
			files: map[string]string{
				"manifests/a.yaml": configMap, "manifests/d/e/b.yml": "", "manifests/x/README": "",
			},
			want: []string{
				"manifests/d/: manifests/ must be flat: move its files up, or read all files, wherever they lie, " +
					"with --format yaml",
				"manifests/x/: manifests/ must be flat: move its files up",
			},
		},
		"directories with a kustomization": {
			files: map[string]string{"manifests/a.yaml": configMap, "manifests/d/kustomization.yaml": ""},
			want:  []string{"invalid plain+v0 bundle: manifests/d/: manifests/ must be flat: move its files up"},
		},
		"one object twice": {
			files: map[string]string{"manifests/a.yaml": configMap, "manifests/b.yaml": "\n\n" + configMap},
			want: []string{"invalid plain+v0 bundle: manifests/b.yaml:3: ConfigMap a: defined twice (first at " +
				"manifests/a.yaml:1)"},
		},
		"one object with the namespace and without it": {
			files: map[string]string{"manifests/a.yaml": configMap + "---\n" +
				strings.Replace(configMap, "name: a", "name: a, namespace: here", 1)},
			want: []string{"invalid plain+v0 bundle: manifests/a.yaml:5: ConfigMap a: defined twice (first at " +
				"manifests/a.yaml:1)"},
		},
		"no object": {
			files: map[string]string{"manifests/a.yaml": "# nothing"},
			want:  []string{"invalid plain+v0 bundle: manifests/: holds no object"},
		},
		"no manifests": {
			files: map[string]string{"a.yaml": configMap},
			want:  []string{"read manifests of the bundle: open manifests: file does not exist"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := format.Load(t.Context(), bundle(test.files),
				format.Options{Format: format.Plain, Namespace: "here"})
			if diff := cmp.Diff(test.want, problems(t, err)); diff != "" {
				t.Fatal(diff)
			}
		})
	}
}

func TestPlainBombs(t *testing.T) {
	aliases := "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
	for i := range 9 {
		aliases += strings.NewReplacer("N", string(rune('1'+i)), "P", string(rune('0'+i))).
			Replace("aN: &aN [*aP,*aP,*aP,*aP,*aP,*aP,*aP,*aP,*aP,*aP]\n")
	}
	for name, test := range map[string]struct{ text, want string }{
		"aliases": {aliases, "larger than 12 MiB with its aliases expanded"},
		"a text as alias": {
			"a: &a " + strings.Repeat("x", 1<<20) + "\nb: [" + strings.Repeat("*a,", 20) + "]\n",
			"larger than 12 MiB with its aliases expanded",
		},
		"alias of itself": {"a: &a [*a]\n", `alias "a" refers to itself`},
		"nested":          {strings.Repeat("[", 20_000), "exceeded max depth of 10000"},
		"nested JSON": {
			`{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + "}",
			"exceeded max depth of 10000",
		},
		"many values":      {strings.Repeat("-\n", 1_500_001), "the manifests have too many values"},
		"a large document": {"a: " + strings.Repeat("x", 12<<20), "larger than 12 MiB"},
		"many documents": {
			strings.Repeat("a: "+strings.Repeat("x", 1<<20)+"\n---\n", 12),
			"the manifests are larger than 12 MiB",
		},
		"many with aliases": {
			strings.Repeat("apiVersion: v1\nkind: A\nmetadata: {generateName: a}\na: &a "+strings.Repeat("x",
				1<<10)+"\nb: ["+
				strings.Repeat("*a,", 1<<10)+"]\n---\n", 12),
			"the manifests are larger than 12 MiB",
		},
		"many values of aliases": {
			strings.Repeat("a: &a ["+strings.Repeat("{},", 1<<10)+"]\nb: ["+strings.Repeat("*a,", 1<<6)+"]\n---\n", 12),
			"the manifests have too many values",
		},
		"many objects": {strings.Repeat("{}\n---\n", 200_000), "more than 100 problems: nothing further was read"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := format.Load(t.Context(), bundle(map[string]string{"manifests/a.yaml": test.text}),
				format.Options{})
			if got := problems(t, err); !strings.HasSuffix(got[len(got)-1], test.want) || len(got) > 101 {
				t.Fatalf("got %d problems, the last %s", len(got), got[len(got)-1])
			}
		})
	}
}

func FuzzPlain(f *testing.F) {
	for _, seed := range []string{
		configMap, "{}", "a: &a [*a]", "---\n---", "- 1", `{"kind":"List","items":[{}]}`,
		"kind: PodList\napiVersion: v1\nitems: [{metadata: {name: a}}]",
		"metadata: {labels: {a: 1}}", "%YAML 1.1\n---\na: 1\n...\nb: 2", "\ufeff{\"a\":1}", "a: .inf", "? [a]\n: b",
		"a: !!binary x",
	} {
		f.Add([]byte(seed), []byte(configMap))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		fsys := bundle(map[string]string{"manifests/a.yaml": string(a), "manifests/b.json": string(b)})
		pkg, err := format.Load(t.Context(), fsys, format.Options{Format: format.Plain})
		checkLoaded(t, pkg, err)
	})
}

// checkLoaded is what holds of every bundle: an error with a code and a message, or whole
// objects, each once.
func checkLoaded(t *testing.T, pkg *format.Package, err error) {
	t.Helper()
	if err != nil {
		if f, ok := errors.AsType[*fault.Error](err); !ok || f.Message == "" || f.Code == fault.Internal || pkg != nil {
			t.Fatalf("error %#v, package %v", err, pkg)
		}
		return
	}
	for _, object := range pkg.Objects {
		if object.GetAPIVersion() == "" || object.GetKind() == "" || object.GetName() == "" {
			t.Fatalf("an object without apiVersion, kind or name: %v", object.Object)
		}
		object.DeepCopy()
	}
}
