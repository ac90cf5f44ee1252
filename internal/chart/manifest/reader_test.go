package manifest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/yamldoc"
)

// What comes out of a text: its objects, as kubectl reads them, or everything that is wrong,
// each with its line.
func TestReader(t *testing.T) {
	const a, b = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n",
		"{apiVersion: v1, kind: Secret, metadata: {name: b}}\n"
	for name, test := range map[string]struct {
		text     string
		objects  []string
		problems []string
	}{
		"nothing":              {text: ""},
		"comments alone":       {text: "# nothing\n---\n# still nothing\n"},
		"two documents":        {text: a + "---\n" + b, objects: []string{"ConfigMap/a", "Secret/b"}},
		"an empty one between": {text: a + "---\n---\n" + b, objects: []string{"ConfigMap/a", "Secret/b"}},
		"JSON, one after the other": {
			text: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}} ` +
				`{"apiVersion":"v1","kind":"Secret","metadata":{"name":"b"}}`,
			objects: []string{"ConfigMap/a", "Secret/b"},
		},
		"a list": {
			text:    "{apiVersion: v1, kind: List, items: [" + a + ", " + b + "]}",
			objects: []string{"ConfigMap/a", "Secret/b"},
		},
		"a list of one kind": {
			text:    "{apiVersion: v1, kind: ConfigMapList, items: [{metadata: {name: a}}]}",
			objects: []string{"ConfigMap/a"},
		},
		"a text": {
			text: a + "---\nhello\n", objects: []string{"ConfigMap/a"},
			problems: []string{"f.yaml:3: must be an object, is text"},
		},
		"twice": {
			text: a + "---\n" + a, objects: []string{"ConfigMap/a"},
			problems: []string{"f.yaml:3: ConfigMap a: defined twice (first at f.yaml:1)"},
		},
		"all problems": {
			text: "{kind: ConfigMap, metadata: {name: a}}\n---\nkind: [\n---\n{apiVersion: v1, kind: ConfigMap}\n",
			problems: []string{
				"f.yaml:1: ConfigMap a: apiVersion: required",
				"f.yaml:3: did not find expected node content",
				"f.yaml:5: ConfigMap: metadata.name: required",
			},
		},
		"not text": {text: "\xff", problems: []string{"f.yaml: not UTF-8 text"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := &manifest.Reader{Namespace: "default"}
			r.Read("f.yaml", []byte(test.text))
			var got []string
			objects, files := r.Objects()
			for i, o := range objects {
				got = append(got, o.GetKind()+"/"+o.GetName())
				if files[i] != "f.yaml" {
					t.Error(files[i])
				}
			}
			if diff := cmp.Diff(test.objects, got); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.problems, r.Problems()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The limits hold for all that one Reader reads, and what aliases make of a text counts.
func TestReaderLimits(t *testing.T) {
	large := func(name string) string {
		return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + "}, data: {x: " +
			strings.Repeat("x", 5<<20) +
			"}}\n"
	}
	var many strings.Builder
	for i := range manifest.MaxObjects + 1 {
		fmt.Fprintf(&many, "{apiVersion: v1, kind: Pod, metadata: {name: a%d}}\n---\n", i)
	}
	for name, test := range map[string]struct {
		texts []string
		want  string
	}{
		"bytes": {
			[]string{large("a"), large("b"), large("c"), large("d")},
			"f.yaml: the manifests are larger than 12 MiB",
		},
		"values": {[]string{strings.Repeat("[", 1_600_000)}, "f.yaml: the manifests have too many values"},
		"aliases": {[]string{"a: &a [" + strings.Repeat("xxxxxxxxxx,", 10_000) + "]\nb: [" +
			strings.Repeat("*a,", 1000) +
			"]\n"}, "f.yaml:1: larger than 12 MiB with its aliases expanded"},
		"objects": {[]string{many.String()}, "f.yaml: more than 10000 objects"},
	} {
		r := &manifest.Reader{}
		for _, text := range test.texts {
			r.Read("f.yaml", []byte(text))
		}
		if diff := cmp.Diff([]string{test.want}, r.Problems()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// Of very many problems some are named, and that there are more.
func TestReaderNamesSomeProblems(t *testing.T) {
	const most = yamldoc.MaxProblems
	for documents, want := range map[int]int{1: 1, most: most, 5 * most: most + 1} {
		r := &manifest.Reader{}
		r.Read("f.yaml", []byte(strings.Repeat("{apiVersion: v1, kind: ConfigMap, metadata: {}}\n---\n", documents)))
		problems := r.Problems()
		if len(problems) != want || (documents > want) != strings.HasPrefix(problems[len(problems)-1], "more than ") {
			t.Errorf("of %d: %d, the last is %q", documents, len(problems), problems[len(problems)-1])
		}
	}
}
