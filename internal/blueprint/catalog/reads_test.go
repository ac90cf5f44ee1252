package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/skiptest"
)

// Files are put in only where the platform's are, and only those below their directory.
func TestIncludes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"outside.yaml": "secret: x", "in/env.part": "A: !file text\nB: two\n", "in/text": "one\n", "in/binary": "\xff",
		"in/loop.part": "a: !include loop.part", "in/broken.part": "a: [",
		"in/large.part": "a: " + strings.Repeat("x", 1<<20),
		"in/list.part":  "[a, b]", "in/empty.part": "", "in/imge.part": "imge: x",
		"in/bomb.part": "A: &a '" + strings.Repeat("x", 100_000) + "'",
	} {
		if err := os.MkdirAll(filepath.Join(dir, "in"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	links := skiptest.CanSymlink(t)
	if links {
		skiptest.Symlink(t, "../outside.yaml", filepath.Join(dir, "in", "link.part"))
	}
	for text, want := range map[string]string{
		"env: !include env.part":            "",
		"env: {A: !file text}":              "",
		"env: &x !include env.part":         "",
		"env: !include empty.part":          "",
		"env: !include none.part":           "a.yaml:4:8: !include none.part: " + syscall.ENOENT.Error(),
		"env: !include ../outside.yaml":     "a.yaml:4:8: !include ../outside.yaml: must be a path below the directory",
		"env: !include " + dir + "/in/text": "must be a path below the directory",
		"env: !include link.part":           "a.yaml:4:8: !include link.part: path escapes",
		"env: !include .":                   "a.yaml:4:8: !include .: not a regular file",
		"splash: !file binary":              "a.yaml:4:11: !file binary: must be text",
		"env: !include loop.part":           "more than 8 files include each other",
		"env: !include broken.part":         "broken.part:1:1: ",
		"env: !include large.part":          "too large",
		"env: !include list.part":           "a.yaml:4:8: expected a mapping of strings, found a list",
		"podman: !include imge.part":        `a.yaml:4:11: unknown field "imge": did you mean image?`,
		"env: &e !include bomb.part\napps: {a: [" + strings.Repeat("*e,", 60) + "]}": "with what it includes: " +
			"larger than",
		"env: !include {a: b}": "a.yaml:4:8: unknown tag !include",
	} {
		if strings.Contains(text, "link.part") && !links {
			continue
		}
		file := filepath.Join(dir, "in", "a.yaml")
		text := "blueprint:\n  name: a\n  template: base\n" + indented(text)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := Load(filepath.Join(dir, "in"))
		problems := problemsOf(err)
		switch {
		case want == "" && err != nil, want != "" && err == nil,
			want != "" && !strings.Contains(strings.Join(problems, "\n"), want):
			t.Errorf("%.60s: %.300q, want %q", text, problems, want)
		case want == "" && strings.Contains(text, "A: !file") && first(t, set).Env["A"] != "one\n":
			t.Errorf("%q", first(t, set).Env)
		}
	}
	// Neither a ConfigMap nor a repository has a directory.
	for _, text := range []string{"env: !include env.part", "splash: !file text"} {
		_, err := Load("", blueprint.Source{
			Name: "configmap/a/b:c.yaml", Text: []byte("name: a\ntemplate: base\n" + text),
		})
		_, custom := resolve(t, platformSet(t), own("template: default\n"+text))
		for _, err := range []error{err, custom} {
			if said := strings.Join(problemsOf(err), " "); !strings.Contains(said, "only for platform blueprints") {
				t.Errorf("%s: %q", text, said)
			}
		}
	}
}

// Whoever provisions has an environment: a repository's blueprint and a flag cannot read it, and the platform's only
// what is configured.
func TestVariablesOfTheEnvironment(t *testing.T) {
	const line = `env: {A: !cel 'env("HOME")'}`
	set := platformSet(t)
	_, err := resolve(t, set, own("template: default\n"+line))
	_, flag := resolve(t, set, Order{
		Name: "default", Overrides: []Override{{Flag: "--set", Path: "env", Value: `{A: !cel 'env("HOME")'}`}},
	})
	for _, err := range []error{err, flag} {
		if said := problemsOf(err); len(said) != 1 || !strings.Contains(said[0], "env() is for platform blueprints") {
			t.Errorf("%q", said)
		}
	}
	set.add(blueprint.Source{Name: "b", Text: []byte("name: reads\ntemplate: base\n" + line)})
	d, err := set.Compose(Order{Name: "reads"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Resolve(t.Context(), expression.Facts{Variables: map[string]string{"OTHER": "x"}})
	if said := problemsOf(err); len(said) != 1 ||
		!strings.Contains(said[0], "env.A: the environment variable HOME may not be read: blueprintVariables") {
		t.Errorf("%q", said)
	}
	b, err := d.Resolve(t.Context(), expression.Facts{Variables: map[string]string{"HOME": "/x"}})
	if err != nil || b.Env["A"] != "/x" {
		t.Error(err)
	}
}
