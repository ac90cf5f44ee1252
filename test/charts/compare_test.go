package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// rendered is a rendering of a text of objects.
func rendered(t *testing.T, text string) *rendering {
	t.Helper()
	objects, err := kubectlReads(text)
	if err != nil {
		t.Fatal(err)
	}
	return &rendering{objects: objects}
}

// What differs is found, and said with its place.
func TestDifferences(t *testing.T) {
	const a = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {x: '1'}}\n---\n"
	const b = "{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n---\n"
	const secret = "{apiVersion: v1, kind: Secret, metadata: {name: s}}\n---\n"
	for name, test := range map[string]struct {
		want, got string
		change    func(got *rendering)
		differ    string
	}{
		"nothing":  {want: a + b, got: a + b},
		"comments": {want: a, got: "# x\n" + strings.ReplaceAll(a, "'1'", `"1"`)},
		"a value": {
			want: a, got: strings.Replace(a, "'1'", "'2'", 1),
			differ: `objects.0 (ConfigMap a).data.x: Helm has "1", berth "2"`,
		},
		"the type of a value": {
			want: a, got: strings.Replace(a, "'1'", "1", 1),
			differ: `objects.0 (ConfigMap a).data.x: Helm has "1", berth 1`,
		},
		"null": {
			want: a, got: strings.Replace(a, "x: '1'", "x: '1', z: null", 1),
			differ: "objects.0 (ConfigMap a).data.z: Helm has false, berth true",
		},
		"an object too few":  {want: a + b, got: a, differ: `objects[1]: Helm has "ConfigMap b", berth nothing`},
		"an object too many": {want: a, got: a + b, differ: `objects[1]: Helm has nothing, berth "ConfigMap b"`},
		"the order": {
			want: a + secret, got: secret + a, differ: `order[0]: Helm has "ConfigMap a", berth "Secret s"
order[1]: Helm has "Secret s", berth "ConfigMap a"`,
		},
		"the notes": {
			want: a, got: a, change: func(got *rendering) { got.notes = "x" }, differ: `notes: Helm has "", berth "x"`,
		},
		"a hook": {
			want: a, got: a, change: func(got *rendering) { got.hooks = []any{"x"} },
			differ: `hooks[0]: Helm has nothing, berth "x"`,
		},
		"a definition": {
			want: a, got: a, change: func(got *rendering) { got.addDefinitions(got.objects[:1]) },
			differ: "crds.ConfigMap a: Helm has nothing, berth map",
		},
	} {
		t.Run(name, func(t *testing.T) {
			want, got := rendered(t, test.want), rendered(t, test.got)
			if test.change != nil {
				test.change(got)
			}
			var lines []string
			for _, d := range differences(want, got) {
				lines = append(lines, d.String())
			}
			text := strings.Join(lines, "\n")
			if test.differ == "" && text != "" || !strings.HasPrefix(text, test.differ) {
				t.Errorf("got %s", text)
			}
		})
	}
}

// What is random looks alike.
func TestShape(t *testing.T) {
	for _, test := range []struct {
		a, b any
		same bool
	}{
		{"abc", "xyz12", true},
		{"-----BEGIN X-----\nab=\n-----END X-----\n", "-----BEGIN X-----\nxyz/+\n-----END X-----\n", true},
		{"-----BEGIN X-----\nab=\n-----END X-----\n", "xyz", false},
		{"abc", 1, false},
		{"a-b", "ab", false},
	} {
		if (shape(test.a) == shape(test.b)) != test.same {
			t.Errorf("%q, %q", test.a, test.b)
		}
	}
}

// TestRun compares what the command line names: a directory of charts, and an archive.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	const chart = "apiVersion: v2\nname: c\nversion: 1.0.0\n"
	const template = "{apiVersion: v1, kind: ConfigMap, metadata: {name: '{{ .Values.name }}'}}\n"
	text := ""
	for _, place := range []string{"dir/c", "c.tgz/c"} {
		text += "-- " + place + "/Chart.yaml --\n" + chart + "-- " + place + "/templates/a.yaml --\n" + template +
			"-- " + place + "/ci/a-values.yaml --\nname: b\n" + "-- " + place + "/values.yaml --\nname: a\n"
	}
	if err := unpack([]byte(text), dir); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(t.Context(), []string{dir}, &out); err != nil ||
		!strings.HasPrefix(out.String(), "2 charts, rendered 4 times: 4 the same, 0 refused by both, 0 differ (4 ob") {
		t.Errorf("%v, %s", err, out.String())
	}
	if err := run(t.Context(), []string{t.TempDir()}, &out); err == nil {
		t.Error("a directory without charts")
	}
	// What Helm fetches, berth does not.
	name := filepath.Join(dir, "dir", "c", "values.schema.json")
	if err := os.WriteFile(name, []byte(`{"properties": {"x": {"$ref": "file:///nowhere.json"}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := run(t.Context(), []string{dir}, &out); !errors.Is(err, errDiffers) ||
		!strings.Contains(out.String(), "with ci/a-values.yaml: Helm alone refuses it: ") ||
		!strings.Contains(out.String(), "rendered 4 times: 2 the same, 0 refused by both, 2 differ") {
		t.Errorf("%v, %s", err, out.String())
	}
}
