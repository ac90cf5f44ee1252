package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

// A directory of blueprints may have other files and directories in it, whatever they are called.
func TestOtherFilesOfADirectory(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"old.yaml", "docs"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"a.yaml": "blueprints: [{name: a, template: base}]", "b.yml": "blueprints: [{name: b, template: base}]",
		"README.md": "not: {a: blueprint", "c.yaml~": "blueprints: [{name: c}]", "docs/d.yaml": "nor: this",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a": true, "b": true, "c": false} {
		if _, err := resolve(t, s, Order{Name: name}); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A problem in a file shows the line that it is in.
func TestProblemsShowTheLine(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte("blueprints:\n- {name: a, template: base, imge: x}\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Load(dir)
	if problems := fault.From(err).Problems; len(problems) != 1 ||
		!strings.Contains(problems[0], "\n  - {name: a, template: base, imge: x}\n") {
		t.Errorf("%q", problems)
	}
}

func TestConfiguredIsEmpty(t *testing.T) {
	for _, test := range []struct {
		c    Configured
		want bool
	}{{Configured{}, true}, {Configured{Dir: "d"}, false}, {Configured{More: []blueprint.Source{{}}}, false}} {
		if got := test.c.IsEmpty(); got != test.want {
			t.Errorf("%+v is empty: %t", test.c, got)
		}
	}
}
