package yamldoc

import (
	"reflect"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

type part struct {
	Name   string            `yaml:"name"`
	Size   int64             `yaml:"size"`
	Hours  *float64          `yaml:"hours"`
	On     bool              `yaml:"on"`
	List   []part            `yaml:"list"`
	Envs   map[string]string `yaml:"envs"`
	Free   any               `yaml:"free"`
	common `yaml:",inline"`
}

type common struct {
	Note string `yaml:"note"`
}

// Every problem is reported with its place, in one pass.
func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		raw  string
		want []string
	}{
		"what fits": {
			"name: a\nsize: 3\nhours: 1.5\non: true\nlist: [{name: b}]\nenvs: {A: b}\nfree: {x: [1]}\nnote: c\n",
			nil,
		},
		"what is meant is checked": {
			"siez: x\nnme: a\nsize: 1\n",
			[]string{
				`f.yaml:1:1: unknown field "siez": did you mean size?`,
				`f.yaml:2:1: unknown field "nme": did you mean name?`,
			},
		},
		"a type of what is meant": {
			"siez: x\n",
			[]string{
				`f.yaml:1:1: unknown field "siez": did you mean size?`,
				"f.yaml:1:7: expected an integer, found a string",
			},
		},
		"nothing, left out": {"name:\nlist: ~\n", nil},
		"unknown fields": {
			"nme: a\nlist:\n  - syze: 3\n",
			[]string{
				`f.yaml:1:1: unknown field "nme": did you mean name?`,
				`f.yaml:3:5: unknown field "syze": did you mean size?`,
			},
		},
		"a text for a number":          {"size: many\n", []string{"f.yaml:1:7: expected an integer, found a string"}},
		"a broken number":              {"size: 1.5\n", []string{"f.yaml:1:7: expected an integer, found a number"}},
		"a whole number":               {"hours: 2\n", nil},
		"a text for a number of hours": {"hours: \"2\"\n", []string{"f.yaml:1:8: expected a number, found a string"}},
		"a text for a switch":          {"on: \"yes\"\n", []string{"f.yaml:1:5: expected a boolean, found a string"}},
		"a list for a text":            {"name: [a]\n", []string{"f.yaml:1:7: expected a string, found a list"}},
		"a mapping of lists":           {"envs:\n  A: [1]\n", []string{"f.yaml:2:6: expected a string, found a list"}},
		"a number too large": {
			"size: 18446744073709551615\n",
			[]string{`f.yaml:1:7: "18446744073709551615" is not an integer`},
		},
		"a key twice": {
			"name: a\nsize: 1\nname: b\n",
			[]string{`f.yaml:3:1: duplicate key "name" (first on line 1)`},
		},
		"a key twice, free": {
			"free:\n  x: 1\n  x: 2\n",
			[]string{`f.yaml:3:3: duplicate key "x" (first on line 2)`},
		},
		"a list as a key": {"? [a]\n: b\n", []string{"f.yaml:1:3: a key must be a string, found a list"}},
		"what is merged in": {
			"list:\n  - &x {name: a}\n  - {<<: *x, size: b}\n  - {<<: 3}\n",
			[]string{
				"f.yaml:3:20: expected an integer, found a string",
				"f.yaml:4:10: << requires a mapping, found a number",
			},
		},
		"behind an alias":      {"name: &x [1]\nnote: *x\n", []string{"f.yaml:1:7: expected a string, found a list"}},
		"a tag of its own":     {"name: !cel a\n", []string{"f.yaml:1:7: unknown tag !cel"}},
		"a tag, free":          {"free: !cel a\n", nil},
		"tags in what is free": {"free: !own\n  - !cel a\n", nil},
	} {
		top, problems := Read("f.yaml", []byte(test.raw))
		if len(problems) > 0 {
			t.Errorf("%s: %q", name, problems)
			continue
		}
		s := Checker{File: "f.yaml"}
		s.Check(top, reflect.TypeFor[part]())
		if !slices.Equal(texts(s.Problems), test.want) {
			t.Errorf("%s:\n%q, want\n%q", name, s.Problems, test.want)
		}
	}
}

// The handler of a tag is called with the type that is expected there.
func TestTagged(t *testing.T) {
	top, _ := Read("f.yaml", []byte("size: !cel 1 + 1\n"))
	var asked []reflect.Kind
	s := Checker{OnTag: func(_ *yaml.Node, t reflect.Type) { asked = append(asked, t.Kind()) }}
	s.Check(top, reflect.TypeFor[part]())
	if !slices.Equal(asked, []reflect.Kind{reflect.Int64}) || len(s.Problems) > 0 {
		t.Errorf("asked about %v; %q", asked, s.Problems)
	}
}

// Of a file of nothing but problems the first hundred are enough.
func TestProblemsAreBounded(t *testing.T) {
	s := Checker{File: "f.yaml"}
	for i := range 10 * MaxProblems {
		s.Problemf(&yaml.Node{Line: i + 1}, "no")
	}
	report := Report(s.Problems, nil)
	if n := len(report); n != MaxProblems+1 || report[0] != "f.yaml:1: no" || report[n-1] != "more problems follow" {
		t.Errorf("%d problems, the first is %q", n, report[0])
	}
}

func texts(problems []Problem) (all []string) {
	for _, p := range problems {
		all = append(all, p.String())
	}
	return all
}
