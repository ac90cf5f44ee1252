package blueprint_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/schematest"
)

const team = `blueprints:
  - name: team
    isTemplate: true
    template: base
    env: {TEAM: blue}
  - name: dev
    description: Go and a home that stays
    template: team
    image: ghcr.io/example/dev:1.4
    initScripts:
      - name: greet
        script: |
          echo hello
          echo again
`

// inTeam works in a directory with blueprints in it.
func inTeam(t *testing.T, text string) {
	t.Helper()
	cmdtest.Offline(t)
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("bp", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("bp", "team.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestBlueprintList(t *testing.T) {
	home, _ := os.Getwd()
	inTeam(t, team)
	text, _ := cmdtest.Must(t, 0, "blueprint", "list", "--blueprints", "bp")
	wide, _ := cmdtest.Must(t, 0, "blueprint", "list", "--blueprints", "bp", "-o", "wide")
	names, _ := cmdtest.Must(t, 0, "blueprint", "list", "--blueprints", "bp", "-o", "name")
	if names != "base\ndefault\ndev\nteam\n" {
		t.Errorf("%q", names)
	}
	document, _ := cmdtest.Must(t, 0, "blueprint", "list", "--blueprints", "bp", "-o", "json")
	t.Chdir(home)
	schematest.Validate(t, []byte(document))
	goldentest.Check(t, "list.txt", text)
	goldentest.Check(t, "list-wide.txt", wide)
}

func TestBlueprintShow(t *testing.T) {
	home, _ := os.Getwd()
	inTeam(t, team)
	plain, _ := cmdtest.Must(t, 0, "blueprint", "show", "dev", "--blueprints", "bp")
	withOrigins, _ := cmdtest.Must(t, 0, "blueprint", "show", "dev", "--blueprints", "bp", "--origins")
	template, _ := cmdtest.Must(t, 0, "blueprint", "show", "team", "--blueprints", "bp", "-o", "json", "--origins")
	cmdtest.Must(t, 7, "blueprint", "show", "nope")

	// The output can be used as a file again, including the comments.
	for _, shown := range []string{plain, withOrigins} {
		again := "blueprints:\n  - " + strings.ReplaceAll(strings.TrimSpace(shown), "\n", "\n    ") + "\n"
		if err := os.WriteFile("again.yaml", []byte(again), 0o600); err != nil {
			t.Fatal(err)
		}
		cmdtest.Must(t, 0, "blueprint", "validate", "again.yaml")
	}
	t.Chdir(home)
	schematest.Validate(t, []byte(template))
	var b v1.Blueprint
	if err := json.Unmarshal([]byte(template), &b); err != nil {
		t.Fatal(err)
	}
	if !b.IsTemplate || b.Origins["env.TEAM"] != "team (bp/team.yaml:5)" ||
		b.Origins["resources.cpu"] != "default (built in)" {
		t.Errorf("%+v", b)
	}
	goldentest.Check(t, "show.txt", plain)
	goldentest.Check(t, "show-origins.txt", withOrigins)
}

func TestBlueprintValidate(t *testing.T) {
	home, _ := os.Getwd()
	inTeam(t, team)
	if stdout, _ := cmdtest.Must(t, 0, "blueprint", "validate",
		"bp"); stdout != "2 blueprints in 1 file: no problems found\n" {
		t.Errorf("%q", stdout)
	}
	cmdtest.Must(t, 0, "blueprint", "validate", "--blueprints", "bp")
	fine, _ := cmdtest.Must(t, 0, "blueprint", "validate", "bp/team.yaml", "-o", "json")
	cmdtest.Must(t, 2, "blueprint", "validate")
	cmdtest.Must(t, 7, "blueprint", "validate", "nowhere")

	inTeam(t, strings.NewReplacer("image:", "imge:", "script: |", "scripts: |", "env: {TEAM: blue}",
		"env: {1TEAM: blue}").Replace(team)+
		"  - {name: small, template: team, resources: {memory: lots}}\n")
	wrong, _ := cmdtest.Must(t, 2, "blueprint", "validate", "bp", "-o", "json")
	_, stderr := cmdtest.Must(t, 2, "blueprint", "validate", "bp")
	t.Chdir(home)
	goldentest.Check(t, "validate.txt", stderr)
	schematest.Validate(t, []byte(fine))
	schematest.Validate(t, []byte(wrong))
}

const dynamic = `blueprints:
  - name: dynamic
    template: base
    splash: !cel |-
      "Hello " + user.username
    env:
      WHO: !cel "user.email"
      my.name: !cel "blueprint.image + 'x'"
      PLAIN: "!cel is a tag"
    enableApps: !cel "'dev' in user.roles"
    securityContext: {runAsUser: !cel user.uid}
    podman: {enabled: !cel "'build' in user.roles", image: quay.io/podman/stable:v5}
    initScripts:
      - {name: a, script: !cel "'echo ' + workspaceName"}
    storages:
      home: {type: scratch, path: /home/dev, enabled: !cel user.sudo, fsOwnerUid: !cel user.uid}
`

// What is printed can be read again and means the same: expressions are still
// evaluated, and a text that looks like one is a text.
func TestExpressionsSurviveShow(t *testing.T) {
	home, _ := os.Getwd()
	inTeam(t, strings.Replace(dynamic, "user.sudo", "user.uid > 999", 1))
	shown, _ := cmdtest.Must(t, 0, "blueprint", "show", "dynamic", "--blueprints", "bp", "-o", "yaml")
	text, _ := cmdtest.Must(t, 0, "blueprint", "show", "dynamic", "--blueprints", "bp")
	document, _ := cmdtest.Must(t, 0, "blueprint", "show", "dynamic", "--blueprints", "bp", "-o", "json")
	var first struct {
		Spec yaml.Node `yaml:"spec"`
	}
	if err := yaml.Unmarshal([]byte(shown), &first); err != nil {
		t.Fatal(err, shown)
	}
	var spec yaml.Node
	if err := yaml.Unmarshal([]byte(text), &spec); err != nil {
		t.Fatal(err, text)
	}
	for name, again := range map[string]*yaml.Node{"-o yaml": &first.Spec, "as text": spec.Content[0]} {
		file, err := yaml.Marshal(map[string]any{"blueprints": []*yaml.Node{again}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join("bp", "team.yaml"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		repeated, _ := cmdtest.Must(t, 0, "blueprint", "show", "dynamic", "--blueprints", "bp", "-o", "json")
		var a, b v1.Blueprint
		if err := errors.Join(json.Unmarshal([]byte(document), &a), json.Unmarshal([]byte(repeated), &b)); err != nil {
			t.Fatal(err)
		}
		if len(a.Expressions) != 9 || !reflect.DeepEqual(a.Expressions, b.Expressions) ||
			!reflect.DeepEqual(a.Spec, b.Spec) {
			t.Errorf("%s:\n%+v, want\n%+v in\n%s", name, b, a, file)
		}
	}
	t.Chdir(home)
	schematest.Validate(t, []byte(document))
	goldentest.Check(t, "show-expressions.yaml", shown)
}

// A file is checked with what is configured, as provisioning has it: the templates of
// the flag and of the configuration are known.
func TestValidateKnowsWhatIsConfigured(t *testing.T) {
	inTeam(t, team)
	custom := "template: team\nresources: {memory: 512m}\nimge: x\n"
	if err := os.WriteFile(".k8shell.yaml", []byte(custom), 0o600); err != nil {
		t.Fatal(err)
	}
	problems := func(args ...string) []string {
		stdout, _ := cmdtest.Must(t, 2, append([]string{"blueprint", "validate", "-o", "json"}, args...)...)
		var failed v1.Error
		if err := json.Unmarshal([]byte(stdout), &failed); err != nil {
			t.Fatal(err)
		}
		return failed.Problems
	}
	memory := ".k8shell.yaml:2:21: blueprint custom: resources.memory: \"512m\" is in fractions of a byte: " +
		"did you mean 512Mi?"
	field := ".k8shell.yaml:3:1: unknown field \"imge\": did you mean image?"
	want := []string{memory, field}
	if got := problems(".k8shell.yaml", "--blueprints", "bp"); !slices.Equal(got, want) {
		t.Errorf("by the flag: %q, want %q", got, want)
	}
	if err := os.WriteFile("config.yaml", []byte("blueprints: bp\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BERTH_CONFIG", "config.yaml")
	if got := problems(".k8shell.yaml"); !slices.Equal(got, want) {
		t.Errorf("by the configuration: %q, want %q", got, want)
	}
	// A file that is configured, too, is not there twice; another one takes its place.
	cmdtest.Must(t, 0, "blueprint", "validate", "bp/team.yaml")
	if err := os.WriteFile("new.yaml", []byte(team), 0o600); err != nil {
		t.Fatal(err)
	}
	cmdtest.Must(t, 0, "blueprint", "validate", "new.yaml")
	// What is wrong with the configured ones keeps the file from being provisioned.
	if err := os.WriteFile("bp/other.yaml", []byte("blueprints: [{name: other, tmplate: base, env: [a]}]\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	if got := problems(".k8shell.yaml"); len(got) != 4 || !strings.HasPrefix(got[2],
		"bp/other.yaml:1:28: unknown field") {
		t.Errorf("with a broken configuration: %q", got)
	}
}
