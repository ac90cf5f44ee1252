package layer

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// written is a layer that is written in a file.
func written(t *testing.T, text string) Value {
	t.Helper()
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		t.Fatal(err)
	}
	return New("dev", "team.yaml", node.Content[0])
}

// Whatever way it is written, with anchors or without, a value is the same.
func TestNew(t *testing.T) {
	want := map[string]string{
		"image": "a 1", "env.A": "1 2", "env.B.c": "2 3", "list[0]": "x 5", "list[1].d": "1.10 5",
		"apps.A": "1 2", "apps.B.c": "2 3",
	}
	v := written(t, "image: &image a\nenv: &env {A: '1'\n , B.c: 2\n }\nlist: [x, {d: 1.10}, ~]\napps: *env\n"+
		"nothing:\n")
	got := map[string]string{}
	v.Walk(func(path string, leaf Value) {
		got[path] = fmt.Sprintf("%s %d", leaf.Scalar.Value, leaf.At.Line)
	})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	var back map[string]any
	if err := v.Node().Decode(&back); err != nil ||
		fmt.Sprint(back) != "map[apps:map[A:1 B.c:2] env:map[A:1 B.c:2] image:a list:[x map[d:1.1] "+
			"<nil>] nothing:<nil>]" {
		t.Errorf("%v, %v", back, err)
	}
	if own := written(t, "<<: {A: merged, B: merged}\nA: own\n"); own.Fields["A"].Scalar.Value != "own" ||
		own.Fields["B"].Scalar.Value != "merged" {
		t.Errorf("%+v", own.Fields)
	}
}

// A field is found at its path, or what is nearest around it.
func TestLookup(t *testing.T) {
	v := written(t, "env:\n  A: x\n  A.B: y\n  A.B.C: z\nlist:\n- a\n- {b: c}\n")
	for path, want := range map[string]string{
		"": "1 true", "env": "2 true", "env.A": "2 true", "env.A.B": "3 true", "env.A.B.C": "4 true",
		"env.A.C": "2 false",
		"env.AB":  "2 false",
		"list[0]": "6 true", "list[1].b": "7 true", "list[2]": "6 false", "list[x]": "6 false", "list": "6 true",
		"none": "1 false", "list[0].x": "6 false",
	} {
		at, ok := v.Lookup(path)
		if got := fmt.Sprintf("%d %t", at.Line, ok); got != want || v.Find(path) != at {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}

// A place is told by its layer, and by its file if it is in one.
func TestPlace(t *testing.T) {
	for want, place := range map[string]Place{
		"dev (team.yaml:4)": {Layer: "dev", File: "team.yaml", Line: 4},
		"--set":             {Layer: "--set"},
	} {
		if got := place.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A child wins over its parent, except with nothing; a list is merged as its strategy says.
func TestMerge(t *testing.T) {
	s := Strategies{Exact: map[string]Strategy{
		"replaced": {How: Replace}, "texts": {How: Union},
		"items": {How: Union, Key: "id"},
	}}
	for name, c := range map[string]struct{ parent, child, want string }{
		"a scalar":               {"{a: 1}", "{a: 2}", "{a: 2}"},
		"nothing":                {"{a: 1}", "{a: ~}", "{a: 1}"},
		"a mapping":              {"{a: {b: 1, c: 2}}", "{a: {c: 3, d: 4}}", "{a: {b: 1, c: 3, d: 4}}"},
		"another kind":           {"{a: {b: 1}}", "{a: [1]}", "{a: [1]}"},
		"a list":                 {"{a: [1, 2]}", "{a: [2, 3]}", "{a: [1, 2, 2, 3]}"},
		"a list that replaces":   {"{replaced: [1, 2]}", "{replaced: [2]}", "{replaced: [2]}"},
		"a union":                {"{texts: [1, 2]}", "{texts: [2, 3]}", "{texts: [1, 2, 3]}"},
		"of what is there twice": {"{texts: [1, 2]}", "{texts: [2, 2]}", "{texts: [1, 2, 2]}"},
		"by a key": {
			"{items: [{id: a, x: 1}, {id: b}]}", "{items: [{id: a, y: 2}, {id: c}]}",
			"{items: [{id: a, y: 2}, {id: b}, {id: c}]}",
		},
		"by none": {
			"{items: [{x: 1}, {id: ~}]}", "{items: [{x: 1}, {id: ~}]}",
			"{items: [{x: 1}, {id: ~}, {x: 1}, {id: ~}]}",
		},
		"by an expression": {
			"{items: [{id: !cel a}]}", "{items: [{id: !cel a}]}",
			"{items: [{id: !cel a}, {id: !cel a}]}",
		},
		"by a mapping": {
			"{items: [{id: {a: b}}]}", "{items: [{id: {a: b}}]}",
			"{items: [{id: {a: b}}, {id: {a: b}}]}",
		},
	} {
		want := plain(t, written(t, c.want))
		if got := plain(t, s.Merge(written(t, c.parent), written(t, c.child))); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func plain(t *testing.T, v Value) string {
	t.Helper()
	text, err := yaml.Marshal(v.Node())
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\n", " ")
}

// Expressions are evaluated in order, each for the type of its field; in Go's terms they are left out, and nil in a
// list.
func TestEvaluate(t *testing.T) {
	type inner struct {
		Text string  `yaml:"text"`
		List []int64 `yaml:"list"`
	}
	type outer struct {
		Inner *inner            `yaml:"inner"`
		Env   map[string]string `yaml:"env"`
		Any   any               `yaml:"any"`
	}
	v := written(t, "inner: {text: !cel t, list: [1, !cel l]}\nenv: {A: 1.10, B: !cel e, C: ~}\n"+
		"any: {x: !cel a, y: 1.10}\nunknown: !cel u\n")
	var seen []string
	out := v.Evaluate(reflect.TypeFor[outer](), func(path string, leaf Value, typ reflect.Type) *yaml.Node {
		text := leaf.Scalar.Value
		seen = append(seen, fmt.Sprintf("%s %s %s", path, text, typ))
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "done"}
	})
	want := []string{
		"any.x a interface {}", "env.B e string", "inner.list[1] l int64", "inner.text t string",
		"unknown u interface {}",
	}
	if !slices.Equal(seen, want) {
		t.Errorf("%q", seen)
	}
	if len(out.Expressions()) != 0 || out.At != v.At || out.Fields["env"].At != v.Fields["env"].At ||
		out.Fields["inner"].Fields["list"].Items[0].At != v.Fields["inner"].Fields["list"].Items[0].At {
		t.Errorf("%+v", out)
	}
	if diff := cmp.Diff(map[string]string{
		"any.x": "a", "env.B": "e", "inner.list[1]": "l", "inner.text": "t",
		"unknown": "u",
	}, v.Expressions()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	got := v.Plain(reflect.TypeFor[outer]())
	if diff := cmp.Diff(map[string]any{
		"inner": map[string]any{"list": []any{1, nil}}, "env": map[string]any{"A": "1.10", "C": nil},
		"any": map[string]any{"y": 1.1},
	}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
