package blueprint_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/schematest"
)

const (
	theirs = "blueprint:\n  # Mine.\n  name: dev\n  template: base\n  storages:\n    a: {type: memory, path: /a}\n"
	ours   = "blueprints:\n  - # Mine.\n    name: dev\n    template: base\n    storages:\n" +
		"      a: {enabled: false, type: memory, path: /a}\n"
)

func inTheirs(t *testing.T) {
	t.Helper()
	inTeam(t, theirs)
	list := "- {name: other, template: dev, resources: {cpu: 1}}\n"
	if err := os.WriteFile(filepath.Join("bp", "list.yml"), []byte(list), 0o640); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

// What is converted is written where it is asked to be, and nowhere else.
func TestBlueprintConvert(t *testing.T) {
	home, _ := os.Getwd()
	inTheirs(t)
	shown, _ := cmdtest.Must(t, 0, "blueprint", "convert", "bp")
	if read(t, "bp/team.yaml") != theirs {
		t.Error("the source is written over")
	}
	text, _ := cmdtest.Must(t, 0, "blueprint", "convert", "bp", "--to", "new/out")
	if got := read(t, "new/out/team.yaml"); got != ours || read(t, "bp/team.yaml") != theirs {
		t.Errorf("%q", got)
	}
	if info, err := os.Stat("new/out/list.yml"); err != nil || info.Mode().Perm() != 0o640 {
		t.Error(info, err)
	}
	cmdtest.Must(t, 0, "blueprint", "validate", "new/out")
	again, _ := cmdtest.Must(t, 0, "blueprint", "convert", "new/out")
	if !strings.Contains(again, "0 changes") {
		t.Errorf("converted again: %s", again)
	}

	_, refused := cmdtest.Must(t, 2, "blueprint", "convert", "bp", "--to", "new/out")
	if !strings.Contains(refused, "new/out/team.yaml: exists already") ||
		!strings.Contains(refused, "new/out/list.yml: exists already") {
		t.Error(refused)
	}
	cmdtest.Must(t, 2, "blueprint", "convert", "bp", "--to", "bp")
	document, _ := cmdtest.Must(t, 0, "blueprint", "convert", "bp", "--in-place", "-o", "json")
	if got := read(t, "bp/team.yaml"); got != ours {
		t.Errorf("in place: %q", got)
	}
	left, _ := filepath.Glob("bp/.*")
	more, _ := filepath.Glob("new/out/.*")
	if len(left)+len(more) > 0 {
		t.Errorf("left behind: %q %q", left, more)
	}
	t.Chdir(home)
	goldentest.Check(t, "convert.txt", shown)
	goldentest.Check(t, "convert-to.txt", text)
	schematest.Validate(t, []byte(document))
	var d v1.BlueprintConversion
	if err := json.Unmarshal([]byte(document), &d); err != nil || len(d.Files) != 2 || d.Files[1].To != "bp/team.yaml" {
		t.Errorf("%v, %+v", err, d)
	}
}

// What is wrong is said of all files, in the lines of the source, and nothing is written.
func TestBlueprintConvertWritesNothingHalf(t *testing.T) {
	inTheirs(t)
	for name, text := range map[string]string{"bp/a.yaml": "name: a\nimge: x\n", "bp/b.yaml": "- ["} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, where := range [][]string{{"--to", "out"}, {"--in-place"}} {
		_, stderr := cmdtest.Must(t, 2, append([]string{"blueprint", "convert", "bp"}, where...)...)
		for _, want := range []string{`bp/a.yaml:2:1: unknown field "imge": did you mean image?`, "bp/b.yaml:1:"} {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s is not in %s", want, stderr)
			}
		}
	}
	if _, err := os.Stat("out"); err == nil || read(t, "bp/team.yaml") != theirs {
		t.Error("something is written")
	}
	cmdtest.Must(t, 2, "blueprint", "convert", "bp", "--in-place", "--to", "x")
	cmdtest.Must(t, 7, "blueprint", "convert", "nowhere")

	// A file that cannot be written keeps the others from being written.
	inTheirs(t)
	if err := os.WriteFile("out", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmdtest.Must(t, 3, "blueprint", "convert", "bp", "--to", "out")
}

// A repository's file is converted in place, and a link stays one.
func TestBlueprintConvertCustom(t *testing.T) {
	inTheirs(t)
	if err := os.WriteFile("real", []byte("blueprint:\n  template: default\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real", ".k8shell.yaml"); err != nil {
		t.Fatal(err)
	}
	cmdtest.Must(t, 0, "blueprint", "convert", ".k8shell.yaml", "--in-place")
	if info, err := os.Lstat(".k8shell.yaml"); err != nil || info.Mode()&os.ModeSymlink == 0 ||
		read(t, "real") != "template: default\n" {
		t.Errorf("%v %q", err, read(t, "real"))
	}
}

// A repository's file alone inherits from what is configured.
func TestBlueprintConvertOverConfigured(t *testing.T) {
	inTeam(t, "blueprints:\n- {name: site, template: base, storages: {home: {type: memory, path: /h}}}\n")
	text := "blueprint:\n  template: site\n  storages: {home: {path: /data}}\n"
	if err := os.WriteFile(".k8shell.yaml", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmdtest.Must(t, 0, "blueprint", "convert", ".k8shell.yaml", "--in-place", "--blueprints", "bp")
	if got := read(t, ".k8shell.yaml"); got != "template: site\nstorages: {home: {path: /data}}\n" {
		t.Errorf("%q", got)
	}
}

// In place, nothing may be left that berth reads as blueprints and that is none.
func TestBlueprintConvertIncluded(t *testing.T) {
	inTeam(t, "blueprint:\n  name: dev\n  template: base\n  storages: !include parts.yaml\n")
	parts := "home: {enabled: true, type: memory, path: /h}\n"
	if err := os.WriteFile("bp/parts.yaml", []byte(parts), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"bp", "bp/team.yaml"} {
		_, stderr := cmdtest.Must(t, 2, "blueprint", "convert", path, "--in-place")
		if !strings.Contains(stderr, "bp/parts.yaml: is written out in bp/team.yaml") ||
			!strings.Contains(stderr, "--to") || !strings.Contains(read(t, "bp/team.yaml"), "!include") {
			t.Errorf("%s: %s", path, stderr)
		}
	}
	cmdtest.Must(t, 0, "blueprint", "convert", "bp", "--to", "out")
	cmdtest.Must(t, 0, "blueprint", "validate", "out")
}

// In place, a file with nothing to change is not written.
func TestBlueprintConvertWritesNoMore(t *testing.T) {
	text := "blueprints:\r\n\r\n- name: 'dev'\r\n  template: base\r\n"
	inTeam(t, text)
	before, _ := os.Stat("bp/team.yaml")
	document, _ := cmdtest.Must(t, 0, "blueprint", "convert", "bp", "--in-place", "-o", "json")
	after, err := os.Stat("bp/team.yaml")
	if err != nil || !os.SameFile(before, after) || read(t, "bp/team.yaml") != text ||
		strings.Contains(document, `"to"`) {
		t.Errorf("%v %s", err, document)
	}
}
