package catalog

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

const layers = `blueprints:
  - name: team
    isTemplate: true
    template: base
    env: &env {A: "1", B: "1"}
    initScripts:
      - {name: one, script: echo one}
  - name: dev
    template: team
    image: ghcr.io/team/dev:2
    env:
      <<: *env
      B: 1.10
      C: 007
    resources: {memory: 1Gi}
    initScripts:
      - name: two
        script: echo two
    extFiles:
      /etc/a.conf: x
`

func TestOriginsSayWhichLayerSetEachField(t *testing.T) {
	set := newSet()
	set.add(blueprint.Source{
		Name: "built in",
		Text: []byte("blueprints:\n- name: base\n  isTemplate: true\n  image: a\n  resources: {cpu: 1, memory: 2}\n"),
	})
	if problems := set.add(blueprint.Source{Name: "t.yaml", Text: []byte(layers)}); len(problems) > 0 {
		t.Fatal(problems)
	}
	b, err := resolve(t, set, Order{Name: "dev"})
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	want := map[string]string{
		"name":                  "dev (t.yaml:8)",
		"image":                 "dev (t.yaml:10)",
		"env.A":                 "dev (t.yaml:5)", // merged by <<: reported as dev's, on the line of the anchor
		"env.B":                 "dev (t.yaml:13)",
		"env.C":                 "dev (t.yaml:14)",
		"helperImage":           "default (built in)",
		"imagePullPolicy":       "default (built in)",
		"resources.cpu":         "base (built in:5)",
		"resources.memory":      "dev (t.yaml:15)",
		"initScripts[0].name":   "team (t.yaml:7)",
		"initScripts[0].script": "team (t.yaml:7)",
		"initScripts[1].name":   "dev (t.yaml:17)",
		"initScripts[1].script": "dev (t.yaml:18)",
		"extFiles./etc/a.conf":  "dev (t.yaml:20)",
	}
	if diff := cmp.Diff(want, b.Origins); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"A": "1", "B": "1.10", "C": "007"}, b.Env); diff != "" {
		t.Error("texts stay as they are written:", diff)
	}
}

// Each field of a resolved blueprint has an origin, and each origin a field.
func TestOriginsAreComplete(t *testing.T) {
	set, err := load(t, map[string]string{"t.yaml": layers})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"default", "dev", "team", "base"} {
		b, err := set.Show(name, "")
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range slices.Sorted(maps.Keys(b.Origins)) {
			if !strings.HasSuffix(b.Origins[path], ")") || strings.HasPrefix(b.Origins[path], " ") {
				t.Errorf("%s: %s comes from %q", name, path, b.Origins[path])
			}
		}
		if b.Origins["image"] == "" || b.Origins["resources.cpu"] == "" {
			t.Errorf("%s: %v", name, b.Origins)
		}
	}
}

// A problem is reported where its field was written, which may be in an ancestor.
func TestProblemsOfResolvedBlueprintsHavePlaces(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.yaml")
	text := `blueprints:
  - name: team
    isTemplate: true
    template: base
    resources: {memory: lots}
  - name: one
    template: team
    hostname: Not_A_Label
    initScripts: [{name: x, script: ""}]
    storages:
      home.d: {type: nfs, path: /a}
  - {name: two, template: nowhere}
  - {name: three, template: base, nme: x}
  - {name: four, template: three}
  - {name: five, image: a, image: b}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Check(t.Context(), Configured{}, []string{file})
	all := strings.ReplaceAll(strings.Join(fault.From(err).Problems, "\n"), file, "a.yaml")
	for _, want := range []string{
		"a.yaml:5:25: blueprint team: resources.memory:",
		"a.yaml:8:15: blueprint one: hostname:",
		"a.yaml:9:37: blueprint one: initScripts[0].script: required",
		"a.yaml:11:22: blueprint one: storages.home.d.type:",
		`a.yaml:12:27: template "nowhere" of blueprint "two" not found`,
		`a.yaml:13:35: unknown field "nme"`,
		`a.yaml:15:28: duplicate key "image" (first on line 15)`,
	} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
	if strings.Contains(all, "four") {
		t.Errorf("a blueprint based on a broken one is checked:\n%s", all)
	}
}

func TestCheckCounts(t *testing.T) {
	done, err := Check(t.Context(), Configured{},
		[]string{"../../../test/e2e/testdata/blueprints", "builtin/blueprints.yaml"})
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	if len(done.Files) < 2 || done.Blueprints < 5 {
		t.Errorf("%+v", done)
	}
	if _, err := Check(t.Context(), Configured{}, []string{"nowhere"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	if _, err := Check(t.Context(), Configured{}, []string{t.TempDir()}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
}

// What ends before everything is checked finds nothing valid.
func TestCheckEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, Configured{}, []string{"builtin/blueprints.yaml"}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
