package catalog

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/berthdev/berth/internal/blueprint"
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
