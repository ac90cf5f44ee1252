package original_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/blueprint/original"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/yamldoc"
)

// converted converts files, and checks what they have become as berth does.
func converted(t *testing.T, paths ...string) ([]original.File, []original.Change) {
	t.Helper()
	sources, problems, err := catalog.Read(paths)
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	files, changes, problems := original.Convert(sources, others(t, ""))
	given, parsed := []blueprint.Source{}, map[string]*yaml.Node{}
	for _, file := range files {
		given, parsed[file.Source.Name] = append(given, file.Source), file.Top
	}
	if _, err := catalog.CheckParsed(t.Context(), catalog.Configured{}, given, problems, parsed); err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	return files, changes
}

// others are the built-in blueprints, and those of a directory.
func others(t *testing.T, dir string) original.Lookup {
	t.Helper()
	all, err := catalog.Written(catalog.Configured{Dir: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A directory of k8shell as it was and as it is: the comments are kept, and what has changed is said.
func TestConvertDirectory(t *testing.T) {
	files, changes := converted(t, "testdata/k8shell", "testdata/repository/.k8shell.yaml")
	dir := t.TempDir()
	var written []string
	for _, file := range files {
		name := filepath.Base(file.Source.Name)
		goldentest.Check(t, "converted/"+strings.TrimPrefix(name, "."), string(file.Text))
		written = append(written, filepath.Join(dir, name))
		if err := os.WriteFile(written[len(written)-1], file.Text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var said strings.Builder
	for _, c := range changes {
		mark := ""
		if c.Differs {
			mark = " (left)"
		}
		fmt.Fprintf(&said, "%s:%d: %s: %s: %s%s\n", filepath.Base(c.File), c.Line, c.Blueprint, c.Field, c.Message,
			mark)
	}
	goldentest.Check(t, "changes.txt", said.String())
	if _, err := catalog.Check(t.Context(), catalog.Configured{}, written); err != nil {
		t.Errorf("what was written is wrong: %v %q", err, fault.From(err).Problems)
	}
	// Every comment of the source is in what was made of it.
	sources, _ := filepath.Glob("testdata/k8shell/*")
	for _, path := range append(sources, "testdata/k8shell/parts/storages.yaml", "testdata/repository/.k8shell.yaml") {
		text, _ := os.ReadFile(path)
		all := ""
		for _, file := range files {
			all += string(file.Text)
		}
		for line := range strings.Lines(string(text)) {
			_, comment, ok := strings.Cut(line, "# ")
			if ok && !strings.Contains(all, "# "+strings.TrimSpace(comment)) {
				t.Errorf("%s: the comment %q is lost", path, comment)
			}
		}
	}
}

// What has another meaning to k8shell, and what becomes of it; ! is before what is left.
func TestConvertFields(t *testing.T) {
	const agent = "k8shelld: {image: x}\n"
	for _, test := range []struct{ written, want, field string }{
		{"storages: {a: {type: memory, path: /a}}", "enabled: false, type: memory", "storages.a.enabled"},
		{"storages: {a: {enabled: true, type: memory, path: /a}}", "a: {enabled: true", ""},
		{"podman: {storages: {a: {type: memory, path: /a}}}", "enabled: false", "podman.storages.a.enabled"},
		{"network: {networkPolicyClass: isolated}", "networkPolicyClass: workspace", "network.networkPolicyClass"},
		{"network: {networkPolicyClass: workspace}", "networkPolicyClass: workspace", "!network.networkPolicyClass"},
		{"network: {networkPolicyClass: system}", "networkPolicyClass: system", ""},
		{"network: {allowEgressToPods: [{a: b}]}", "namespace: '*'", "network.allowEgressToPods[0]"},
		{"podman: {parentStorages: true}", `parentStorages: ["*"]`, "podman.parentStorages"},
		{"podman: {enabled: true, image: y}", "enabled: true", "!podman.enabled"},
		{"podman: {enabled: true, image: y, securityContext: {runAsUser: 0}}", "runAsUser: 0", ""},
		{"resources: {cpu: 1}", "cpu: 1", ""},
		{"env: {A: !cel blueprint}", "A: !cel metadata.name", "env.A"},
		{"initScripts: [{name: a b, script: x}]", "name: a-b", "initScripts[0].name"},
		{"initScripts: [{name: a_b.sh, script: x}]", "name: a_b.sh", ""},
		{
			"storages: {a: {enabled: true, type: memory, path: /a, id: x}}", "path: /a}", "storages.a.id",
		},
		{
			"storages: {a: {enabled: true, type: shared, path: /a, existingClaim: x}}", "existingClaim: x",
			"!storages.a.existingClaim",
		},
	} {
		source := blueprint.Source{
			Name: "a.yaml", Text: []byte("blueprints:\n- name: a\n  template: base\n" + indented(agent+test.written)),
		}
		files, changes, problems := original.Convert([]blueprint.Source{source}, others(t, ""))
		if len(problems) > 0 || !strings.Contains(string(files[0].Text), test.want) {
			t.Errorf("%s: %q\n%s", test.written, problems, files[0].Text)
		}
		said := ""
		for _, c := range changes {
			if said += c.Field; c.Differs {
				said = "!" + said
			}
		}
		if said != test.field {
			t.Errorf("%s: it is said of %q, want %q", test.written, said, test.field)
		}
	}
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n" }

// Whether a storage is switched on is inherited: it is switched off where it is new.
func TestConvertInheritedStorages(t *testing.T) {
	source := blueprint.Source{Name: "a.yaml", Text: []byte(`
- {name: top, isTemplate: true, image: x, storages: {
    a: {type: memory, path: /a}, b: {enabled: true, type: memory, path: /b}}}
- {name: one, template: top, storages: {a: {enabled: true}, b: {path: /c}, c: {type: memory, path: /d}}}
- {name: two, template: one, storages: {a: {path: /e}}}
`)}
	files, _, problems := original.Convert([]blueprint.Source{source}, others(t, ""))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	file := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(file, files[0].Text, 0o600); err != nil {
		t.Fatal(err)
	}
	checked, err := catalog.Check(t.Context(), catalog.Configured{}, []string{file})
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	for name, want := range map[string]string{"top": "b", "one": "a b", "two": "a b"} {
		b, err := checked.Set.Show(name, "")
		if err != nil {
			t.Fatal(err)
		}
		var on []string
		for _, storage := range []string{"a", "b", "c"} {
			if s, has := b.Storages[storage]; has && s.On() {
				on = append(on, storage)
			}
		}
		if got := strings.Join(on, " "); got != want {
			t.Errorf("%s has %s, want %s", name, got, want)
		}
	}
}

// What is inherited is also that of blueprints that are not among the files. Of one that is not known nothing is said.
func TestConvertOverOthers(t *testing.T) {
	dir := t.TempDir()
	text := "- {name: site, template: base, storages: {home: {type: memory, path: /h}}}\n"
	if err := os.WriteFile(filepath.Join(dir, "site.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ written, want, field string }{
		{"template: site, storages: {home: {path: /d}}", "home: {path: /d}", ""},
		{"template: site, storages: {new: {path: /d}}", "new: {enabled: false, path: /d}", "storages.new.enabled"},
		{"template: base, storages: {home: {path: /d}}", "home: {enabled: false", "storages.home.enabled"},
		{"template: gone, storages: {home: {path: /d}}", "home: {path: /d}", "!storages.home.enabled"},
		{"template: gone, storages: {home: {enabled: true}}", "home: {enabled: true}", ""},
	} {
		source := blueprint.Source{Name: blueprint.CustomFile, Text: []byte("blueprint: {" + test.written + "}\n")}
		files, changes, problems := original.Convert([]blueprint.Source{source}, others(t, dir))
		if len(problems) > 0 || !strings.Contains(string(files[0].Text), test.want) {
			t.Errorf("%s: %q\n%s", test.written, problems, files[0].Text)
		}
		said := ""
		for _, c := range changes {
			if c.Field == "" {
				continue
			}
			if said += c.Field; c.Differs {
				said = "!" + said
			}
		}
		if said != test.field {
			t.Errorf("%s: it is said of %q, want %q", test.written, said, test.field)
		}
	}
}

// What needs no change stays as it is, with its blank lines, quotes and ends of lines.
func TestConvertLeavesAsItIs(t *testing.T) {
	for name, text := range map[string]string{
		"a.yaml":             "blueprints:\r\n\r\n- name: 'a'\r\n  template: \"base\"\r\n\r\n  resources: {cpu: 1}\r\n",
		blueprint.CustomFile: "template: base\n\nstorages: {a: &a {type: 'memory', path: /a}}\n",
		"b" + blueprint.CustomFile: "template: base\nnetwork: {networkPolicyClass: isolated}\n" +
			"storages: {a: {type: memory, path: /a, id: x}}\n",
		"c" + blueprint.CustomFile: "- {name: a, template: base}\n", // a list is no custom blueprint, and stays one
		"empty.yaml":               "# Nothing.\n\n",
	} {
		source := blueprint.Source{Name: name, Text: []byte(text)}
		files, _, problems := original.Convert([]blueprint.Source{source}, others(t, ""))
		if len(problems) > 0 || string(files[0].Text) != text {
			t.Errorf("%s: %q becomes %q (%v)", name, text, files[0].Text, problems)
		}
	}
}

// What cannot be converted is said with its place in the source, and that of all files.
func TestConvertSaysWhatIsWrong(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": "blueprint:\n  # here\n  name: a\n  imge: x\n", "b.yaml": "- name: [",
		"c.yaml": "- {name: c, template: none}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sources, _, err := catalog.Read([]string{dir})
	if err != nil {
		t.Fatal(err)
	}
	files, _, problems := original.Convert(sources, others(t, ""))
	given, parsed := []blueprint.Source{}, map[string]*yaml.Node{}
	for _, file := range files {
		given, parsed[file.Source.Name] = append(given, file.Source), file.Top
	}
	_, err = catalog.CheckParsed(t.Context(), catalog.Configured{}, given, problems, parsed)
	said := strings.Join(fault.From(err).Problems, "\n")
	for _, want := range []string{`a.yaml:4:3: unknown field "imge"`, "b.yaml:1:", `c.yaml:1:`} {
		if !strings.Contains(said, want) {
			t.Errorf("%s is not in\n%s", want, said)
		}
	}
}

// Whatever others have written: it is read to its end, and what is written can be read again.
func FuzzConvert(f *testing.F) {
	for _, dir := range []string{"testdata/k8shell", "testdata/fields", "testdata/repository"} {
		files, err := os.ReadDir(dir)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range files {
			if text, err := os.ReadFile(filepath.Join(dir, file.Name())); err == nil {
				f.Add(string(text))
			}
		}
	}
	f.Add("a: &a {storages: &b {c: *d}}\n<<: *a\nname: x")
	f.Add("- {name: a, template: b, storages: {x: }}\n- {name: b, template: a}")
	f.Add("blueprint: {env: {A: !cel \"blueprint + 'noreponame' + r\\\"x\\\"\"}}")
	f.Fuzz(func(t *testing.T, text string) {
		for _, name := range []string{"a.yaml", blueprint.CustomFile} {
			source := blueprint.Source{Name: name, Text: []byte(text)}
			files, _, problems := original.Convert([]blueprint.Source{source}, nil)
			if len(problems) > 0 {
				continue
			}
			for _, file := range files {
				if _, wrong := yamldoc.Read("", file.Text); len(wrong) > 0 {
					t.Errorf("%q becomes %q: %v", text, file.Text, wrong)
				}
			}
		}
	})
}

// What a storage merges with << is its own: one that says there whether it is wanted is not switched off.
func TestSwitchOffReadsMergedKeys(t *testing.T) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(`
on: &on {enabled: true}
local: &local {type: local}
storages:
  a: {<<: *on, path: /a}
  b: {<<: [*local, *on], path: /b}
  c: {<<: *local, path: /c}
`), &document); err != nil {
		t.Fatal(err)
	}
	original.SwitchOff(document.Content[0], nil)
	var read struct {
		Storages map[string]struct{ Enabled bool }
	}
	if err := document.Decode(&read); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a": true, "b": true, "c": false} {
		if read.Storages[name].Enabled != want {
			t.Errorf("storage %s is enabled: %v, want %v", name, !want, want)
		}
	}
}
