package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

const family = `blueprints:
- {name: team, template: base, isTemplate: true, description: The team's, env: {A: x}}
- {name: child, template: team, description: , env: {B: !cel user.username}, ` +
	`storages: {build: {type: scratch, path: /build}}, resources: {cpu: !cel "'1'"}}
- {name: orphan, template: nobody}
`

// familySet has a template, a blueprint that inherits from it, and one that is broken.
func familySet(t *testing.T) *Set {
	t.Helper()
	s := platformSet(t)
	if problems := s.add(blueprint.Source{Name: "family.yaml", Text: []byte(family)}); len(problems) > 0 {
		t.Fatal(problems)
	}
	return s
}

// Blueprints are listed by name, with what is known of them before they are merged.
func TestList(t *testing.T) {
	all := familySet(t).List()
	all = slices.DeleteFunc(all, func(s Summary) bool { return s.Name == "base" || s.Name == "default" })
	want := []Summary{
		{Name: "child", Template: "team", Origin: "family.yaml:3"},
		{Name: "dev", Template: "base", Origin: "platform.yaml:2"},
		{Name: "orphan", Template: "nobody", Origin: "family.yaml:4"},
		{Name: "team", Template: "base", Description: "The team's", Origin: "family.yaml:2", IsTemplate: true},
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if names := familySet(t).Names(); !slices.Equal(names, []string{"child", "default", "dev", "orphan"}) {
		t.Errorf("%q", names)
	}
}

// A blueprint is shown with what it inherits, and its expressions as they are written; a template as well.
func TestShow(t *testing.T) {
	s := familySet(t)
	b, err := s.Show("child", "registry.example.com")
	if err != nil || b.Env["A"] != "x" || b.Env["B"] != "!cel user.username" ||
		!strings.HasPrefix(b.Image, "registry.example.com/") {
		t.Errorf("%+v, %v", b, err)
	}
	if diff := cmp.Diff(map[string]string{"env.B": "user.username", "resources.cpu": "'1'"},
		b.Expressions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if b, err := s.Show("team", ""); err != nil || !b.IsTemplate || b.Template != "base" || b.Env["A"] != "x" {
		t.Errorf("a template: %+v, %v", b, err)
	}
	for name, c := range map[string]struct {
		code fault.Code
		says string
	}{
		"nobody": {fault.NotFound, `blueprint "nobody" not found`},
		"orphan": {fault.InvalidArgument, `template "nobody" of blueprint "orphan" not found`},
	} {
		b, err := s.Show(name, "")
		if all := fmt.Sprint(err, problemsOf(err)); fault.CodeOf(err) != c.code || !strings.Contains(all, c.says) ||
			b.Name != "" {
			t.Errorf("%s: %+v, %s", name, b, all)
		}
	}
}

// What was merged and is not a blueprint is an error that says of which one, wherever it is needed.
func TestDraftThatIsNoBlueprint(t *testing.T) {
	s := familySet(t)
	d, err := s.Compose(Order{Name: "child"})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.Scratch(); !maps.Equal(got, map[string]string{"build": ""}) {
		t.Errorf("the scratch storages are %q", got)
	}
	d.merged = layer.Value{Fields: map[string]layer.Value{"env": {Items: []layer.Value{}}}}
	if got := d.Scratch(); got != nil {
		t.Errorf("the scratch storages are %q", got)
	}
	if b, err := d.Resolve(t.Context(), expression.Facts{}); len(problemsOf(err)) != 1 ||
		!strings.HasPrefix(problemsOf(err)[0], "family.yaml:3:3: blueprint child: yaml: ") || b.Platform != "" {
		t.Errorf("%+v, %v: %q", b, err, problemsOf(err))
	}
	if found := d.problems(true, nil); len(found) != 1 || found[0].layer != "child" || found[0].Line != 3 {
		t.Errorf("%+v", found)
	}
	yamldoc.Field(s.entries["dev"].node, "env").Kind = yaml.SequenceNode
	if _, err := s.Show("dev", ""); len(problemsOf(err)) != 1 ||
		!strings.HasPrefix(problemsOf(err)[0], "platform.yaml:2:3: blueprint dev: yaml: ") {
		t.Errorf("it is shown: %v", err)
	}
}

// A field whose expression fails is one problem: that it has no value then is none.
func TestExpressionThatFails(t *testing.T) {
	for _, field := range []string{
		"image: !cel 'user.roles[7]'",
		"storages: {a: {type: !cel 'user.roles[7]', path: /data}}", "resources: {cpu: !cel 'user.roles[7]'}",
	} {
		s := platformSet(t)
		if problems := s.add(blueprint.Source{
			Name: "x.yaml",
			Text: []byte("blueprints:\n- name: x\n  template: base\n  " + field + "\n"),
		}); len(problems) > 0 {
			t.Fatal(problems)
		}
		_, err := resolve(t, s, Order{Name: "x"})
		if got := problemsOf(err); len(got) != 1 || !strings.Contains(got[0], "x.yaml:4:") ||
			!strings.Contains(got[0], "index out of bounds: 7") {
			t.Errorf("%s: %q", field, got)
		}
	}
}

// A name that is computed is that of the blueprint, and comes before its ancestors'.
func TestComputedName(t *testing.T) {
	b, err := resolve(t, familySet(t), Order{Name: "child", As: "repo-org-proj"})
	if err != nil || b.Name != "repo-org-proj" || b.Origins["name"] != "the user string" || b.Platform != "child" {
		t.Errorf("%+v, %v", b, err)
	}
	if want := []string{"repo-org-proj", "child", "team", "base"}; !slices.Equal(b.Lineage, want) {
		t.Errorf("%q", b.Lineage)
	}
	b, err = resolve(t, familySet(t), Order{Name: "child", As: "child"})
	if err != nil || b.Name != "child" || !strings.HasPrefix(b.Origins["name"], "child (family.yaml:3)") {
		t.Errorf("%+v, %v", b.Origins["name"], err)
	}
}

// Without the language of expressions, each is a problem.
func TestExpressionsWithoutTheirLanguage(t *testing.T) {
	s := familySet(t)
	s.language = &language{get: func() (*expression.Language, error) { return nil, errors.New("it is broken") }}
	_, err := resolve(t, s, Order{Name: "child"})
	if got := problemsOf(err); len(got) != 2 || !strings.Contains(got[0], "env.B: it is broken") {
		t.Errorf("%q", got)
	}
	if problems := s.add(blueprint.Source{
		Name: "x.yaml",
		Text: []byte("blueprints: [{name: x, template: base, splash: !cel user.email}]"),
	}); len(problems) != 1 ||
		problems[0].Message != "it is broken" {
		t.Errorf("%+v", problems)
	}
}

// A blueprint has 100 expressions at most; one problem says so.
func TestExpressionsOfOneBlueprint(t *testing.T) {
	for n, want := range map[int]int{100: 0, 101: 1, 150: 1} {
		var text strings.Builder
		text.WriteString("blueprints:\n- name: x\n  template: default\n  env:\n")
		for i := range n {
			fmt.Fprintf(&text, "    A%d: !cel user.username\n", i)
		}
		s := platformSet(t)
		if problems := s.add(blueprint.Source{Name: "x.yaml", Text: []byte(text.String())}); len(problems) > 0 {
			t.Fatal(problems)
		}
		b, err := resolve(t, s, Order{Name: "x"})
		got := problemsOf(err)
		if len(got) != want || want > 0 && !strings.Contains(got[0], "a blueprint can have at most 100 expressions") ||
			want == 0 && b.Env["A99"] != "alice" {
			t.Errorf("%d: %q, %v", n, got, b.Env["A99"])
		}
	}
}
