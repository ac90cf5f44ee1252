package blueprint_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/schematest"
	"github.com/berthdev/berth/internal/terminal/terminaltest"
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
	terminaltest.Golden(t, "list.txt", text)
	terminaltest.Golden(t, "list-wide.txt", wide)
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
	if !b.IsTemplate || b.Origins["env.TEAM"] != "team (bp/team.yaml:5)" || b.Origins["resources.cpu"] != "base (built in:10)" {
		t.Errorf("%+v", b)
	}
	terminaltest.Golden(t, "show.txt", plain)
	terminaltest.Golden(t, "show-origins.txt", withOrigins)
}

func TestBlueprintValidate(t *testing.T) {
	home, _ := os.Getwd()
	inTeam(t, team)
	if stdout, _ := cmdtest.Must(t, 0, "blueprint", "validate", "bp"); stdout != "2 blueprints in 1 file: no problems found\n" {
		t.Errorf("%q", stdout)
	}
	cmdtest.Must(t, 0, "blueprint", "validate", "--blueprints", "bp")
	fine, _ := cmdtest.Must(t, 0, "blueprint", "validate", "bp/team.yaml", "-o", "json")
	cmdtest.Must(t, 2, "blueprint", "validate")
	cmdtest.Must(t, 7, "blueprint", "validate", "nowhere")

	inTeam(t, strings.NewReplacer("image:", "imge:", "script: |", "scripts: |", "env: {TEAM: blue}", "env: {1TEAM: blue}").Replace(team)+
		"  - {name: small, template: team, resources: {memory: lots}}\n")
	wrong, _ := cmdtest.Must(t, 2, "blueprint", "validate", "bp", "-o", "json")
	_, stderr := cmdtest.Must(t, 2, "blueprint", "validate", "bp")
	t.Chdir(home)
	terminaltest.Golden(t, "validate.txt", stderr)
	schematest.Validate(t, []byte(fine))
	schematest.Validate(t, []byte(wrong))
}
