package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/expression"
)

const originals = "../original/testdata/"

// Each field of k8shell's blueprints, and what it is to berth.
func TestFieldsOfK8shell(t *testing.T) {
	set, err := Load(originals + "fields")
	if err != nil {
		t.Fatal(err, problemsOf(err))
	}
	d, err := set.Compose(Order{Name: "full"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Resolve(t.Context(), expression.Facts{
		User:          expression.User{Username: "alice", Fullname: "Alice O. Smith", Provider: "file", Sudo: true},
		WorkspaceName: "alice-1234567",
		Metadata: expression.Metadata{
			RepoOwner: "org", RepoName: "proj", RepoRef: "main", RepoAddress: "https://example.com/org/proj.git",
		},
		Variables: map[string]string{"SITE": "north"},
	})
	if err != nil {
		t.Fatal(err, problemsOf(err))
	}
	got := fieldsOf(t, b)
	for field, want := range map[string]string{
		"name":                                `"full"`,
		"description":                         `"Every field"`,
		"splash":                              `"Welcome to {{.Hostname}}"`,
		"hostname":                            `"box"`,
		"subdomain":                           `"team"`,
		"image":                               `"ghcr.io/example/dev:1"`,
		"imagePullPolicy":                     `"Always"`,
		"k8shelld.image":                      `"ghcr.io/example/agent:v1.2.3"`,
		"k8shelld.imagePullPolicy":            `"Never"`,
		"k8shelld.ignoreOrphans":              `["^sshd","tmux"]`,
		"k8shelld.connection":                 `{"allowAnyNS":true,"allowAnySA":false}`,
		"env.SITE":                            `"north"`,
		"env.LABEL":                           `"alice-o--smith"`,
		"env.WHO":                             `"alicefiletrue"`,
		"env.WHERE":                           `"orgprojmainhttps://example.com/org/proj.git"`,
		"env.ID":                              `"alice-1234567full"`,
		"network.networkPolicyClass":          `"organization"`,
		"network.allowEgressToCIDRs":          `["192.0.2.0/24","10.0.0.0/8"]`,
		"network.allowEgressToPods":           `[{"labels":{"app":"database","tier":"data"},"namespace":"*"}]`,
		"resources":                           `{"cpu":"2","memory":"4Gi"}`,
		"podman.enabled":                      `true`,
		"podman.image":                        `"quay.io/podman/stable:v5"`,
		"podman.resources":                    `{"cpu":"1","memory":"2Gi"}`,
		"podman.createDockerSockSymlink":      `true`,
		"podman.parentStorages":               `["*"]`,
		"podman.extFiles":                     `{"/etc/containers/registries.conf":"[registries]"}`,
		"podman.storages.images":              `{"enabled":true,"path":"/images","sizeLimit":"5Gi","type":"emptyDir"}`,
		"podman.securityContext":              `{"appArmorProfile":{"type":"Unconfined"},"runAsGroup":1000,"runAsUser":1000}`,
		"storages.home.enabled":               `true`,
		"storages.home.type":                  `"local"`,
		"storages.home.path":                  `"/home/dev"`,
		"storages.home.fsOwnerUid":            `1000`,
		"storages.home.fsOwnerGid":            `1001`,
		"storages.home.claimSpec.accessModes": `["ReadWriteMany"]`,
		"storages.home.claimSpec.resources":   `{"requests":{"storage":"1Gi"}}`,
		"storages.home.claimSpecAnnotations":  `{"backup":"daily"}`,
		"storages.cache.id":                   `"go1"`,
		"storages.cache.existingClaim":        `"of-all"`,
		"storages.tmp.sizeLimit":              `"64Mi"`,
		"storages.off.enabled":                `false`,
		"initScripts":                         `[{"always":true,"name":"tools","script":"echo new"},{"name":"more","script":"echo more"}]`,
		"showInitScriptStatus":                `true`,
		"securityContext":                     `{"privileged":false}`,
		"extFiles":                            `{"/etc/motd.d/a":"hello"}`,
		"enableApps":                          `true`,
		"apps.editor.name":                    `"Editor"`,
		"apps.editor.enabled":                 `true`,
		"apps.editor.binary":                  `"/usr/bin/editor"`,
		"apps.editor.versionCmd":              `["editor","--version"]`,
		"apps.editor.versionRegex":            `"([0-9.]+)"`,
		"apps.editor.install":                 `"apk add editor"`,
		"apps.editor.start":                   `["editor","--listen"]`,
		"apps.editor.listen":                  `"127.0.0.1:8080"`,
		"apps.editor.restartPolicy":           `"on-failure"`,
		"apps.editor.maxRestartBackoff":       `"30s"`,
		"apps.editor.installAsRoot":           `true`,
		"apps.editor.autoStart":               `true`,
		"apps.editor.protocol":                `"https"`,
	} {
		if value := at(got, field); value != want {
			t.Errorf("%s is %s, want %s", field, value, want)
		}
	}
	if diff := cmp.Diff([]string{"cache", "home", "tmp"}, b.Parents()); diff != "" {
		t.Error(diff)
	}
}

// fieldsOf is a blueprint as JSON has it.
func fieldsOf(t *testing.T, b blueprint.Blueprint) (fields map[string]any) {
	t.Helper()
	text, err := json.Marshal(b)
	if err == nil {
		err = json.Unmarshal(text, &fields)
	}
	if err != nil {
		t.Fatal(err)
	}
	return fields
}

// at is what is at a dotted path, as JSON.
func at(fields map[string]any, path string) string {
	var value any = fields
	for key := range strings.SplitSeq(path, ".") {
		inner, _ := value.(map[string]any)
		value = inner[key]
	}
	text, _ := json.Marshal(value)
	return string(text)
}

// A file can be a list of blueprints, with or without the key; or one, with or without the key.
func TestFormsOfAFile(t *testing.T) {
	for text, want := range map[string][]string{
		"blueprints:\n- {name: a, template: base}\n":                 {"a"},
		"blueprint: {name: a, template: base}\n":                     {"a"},
		"name: a\ntemplate: base\n":                                  {"a"},
		"- {name: a, template: base}\n- {name: b, template: base}\n": {"a", "b"},
		"- &x {name: a, template: base}\n- {<<: *x, name: b}\n":      {"a", "b"},
		"[]":                                     nil,
		"blueprint: [{name: a, template: base}]": {`!1:1: unknown field "blueprint": did you mean blueprints?`},
		"image: alpine":                          {`!1:1: unknown field "image"`},
		"name: [a]":                              {`!1:1: unknown field "name"`},
		"blueprint: {name: a}\nblueprints: []":   {`!1:1: unknown field "blueprint"`},
		"blueprint: {name: a, template: base}\nx: 1": {`!1:1: unknown field "blueprint"`},
	} {
		set, err := load(t, map[string]string{"a.yaml": text})
		if err != nil {
			if len(want) != 1 || !strings.Contains(problemsOf(err)[0], "a.yaml:"+strings.TrimPrefix(want[0], "!")) {
				t.Errorf("%q: %q", text, problemsOf(err))
			}
			continue
		}
		names := slices.DeleteFunc(set.all(), func(name string) bool { return name == "base" || name == "default" })
		if diff := cmp.Diff(want, names); len(want)+len(names) > 0 && diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

// A repository's file that k8shell can read has its meaning; berth's own form has berth's.
func TestRepositoriesOfK8shell(t *testing.T) {
	text, err := os.ReadFile(originals + "repository/.k8shell.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, inner, _ := strings.Cut(string(text), "blueprint: # theirs\n")
	for form, want := range map[string][2]bool{string(text): {false, true}, inner: {true, true}} {
		b, err := resolve(t, platformSet(t), own(form))
		if err != nil {
			t.Fatal(err, problemsOf(err))
		}
		got := [2]bool{b.Storages["cache"].On(), b.Storages["wanted"].On()}
		if got != want || !b.ShowInitScriptStatus {
			t.Errorf("%s: %v", form, got)
		}
	}
	// What the template has switched on stays on.
	set := platformSet(t)
	set.add(blueprint.Source{Name: "b", Text: []byte("- {name: with, template: base, storages: " +
		"{a: {type: emptyDir, path: /data}}}")})
	b, err := resolve(t, set, own("blueprint: {template: with, storages: {a: {path: /cache}}}"))
	if err != nil || !b.Storages["a"].On() {
		t.Errorf("%v %+v", problemsOf(err), b.Storages)
	}
}

// Files are put in only where the platform's are, and only those below their directory.
func TestIncludes(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"outside.yaml": "secret: x", "in/env.part": "A: !file text\nB: two\n", "in/text": "one\n", "in/binary": "\xff",
		"in/loop.part": "a: !include loop.part", "in/broken.part": "a: [", "in/large.part": "a: " + strings.Repeat("x", 1<<20),
		"in/list.part": "[a, b]", "in/empty.part": "", "in/imge.part": "imge: x",
		"in/bomb.part": "A: &a '" + strings.Repeat("x", 100_000) + "'",
	} {
		if err := os.MkdirAll(filepath.Join(dir, "in"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside.yaml", filepath.Join(dir, "in", "link.part")); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"env: !include env.part":            "",
		"env: {A: !file text}":              "",
		"env: &x !include env.part":         "",
		"env: !include empty.part":          "",
		"env: !include none.part":           "a.yaml:4:8: !include none.part: no such file or directory",
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
		"env: &e !include bomb.part\napps: {a: [" + strings.Repeat("*e,", 60) + "]}": "with what it includes: larger than",
		"env: !include {a: b}": "a.yaml:4:8: unknown tag !include",
	} {
		file := filepath.Join(dir, "in", "a.yaml")
		if err := os.WriteFile(file, []byte("blueprint:\n  name: a\n  template: base\n"+indented(text)), 0o600); err != nil {
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
		_, err := Load("", blueprint.Source{Name: "configmap/a/b:c.yaml", Text: []byte("name: a\ntemplate: base\n" + text)})
		_, custom := resolve(t, platformSet(t), own("template: default\n"+text))
		for _, err := range []error{err, custom} {
			if said := strings.Join(problemsOf(err), " "); !strings.Contains(said, "only for platform blueprints") {
				t.Errorf("%s: %q", text, said)
			}
		}
	}
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n" }

func first(t *testing.T, set *Set) blueprint.Blueprint {
	t.Helper()
	b, err := resolve(t, set, Order{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	return b
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
		!strings.Contains(said[0], "env.A: the variable HOME must not be read, or is none: blueprintVariables") {
		t.Errorf("%q", said)
	}
	if b, err := d.Resolve(t.Context(), expression.Facts{Variables: map[string]string{"HOME": "/x"}}); b.Env["A"] != "/x" {
		t.Error(err)
	}
}

// Nothing is privileged that does not say so: podman's sidecar runs as the user that its images have.
func TestPodmanIsNotPrivileged(t *testing.T) {
	set := platformSet(t)
	set.add(blueprint.Source{Name: "b", Text: []byte(`
- {name: given, template: base, podman: {enabled: true, image: x, securityContext: {privileged: true}}}
- {name: base-podman, template: base, podman: {enabled: true, image: x}}
- {name: alone, image: y, podman: {enabled: true, image: x}}
- {name: without, template: base}
`)})
	unprivileged := map[string]any{
		"runAsUser": 1000, "runAsGroup": 1000, "appArmorProfile": map[string]any{"type": "Unconfined"},
	}
	for name, want := range map[string]map[string]any{
		"given": {"privileged": true}, "base-podman": unprivileged, "alone": unprivileged, "without": nil,
	} {
		b, err := resolve(t, set, Order{Name: name})
		if err != nil || !reflect.DeepEqual(b.Podman.SecurityContext, want) {
			t.Errorf("%s: %v, %v", name, err, b.Podman.SecurityContext)
		}
	}
}

// The forms of k8shell for a field are taken by flags, too, and berth's former one.
func TestFormsOfAField(t *testing.T) {
	for written, want := range map[string]string{
		"k8shelld: {ignoreOrphans: true}":                                        `k8shelld.ignoreOrphans=[".*"]`,
		"k8shelld: {ignoreOrphans: false}":                                       `k8shelld.ignoreOrphans=null`,
		"k8shelld: {ignoreOrphans: [a]}":                                         `k8shelld.ignoreOrphans=["a"]`,
		"podman: {parentStorages: [a]}\nstorages: {a: {type: memory, path: /a}}": `podman.parentStorages=["a"]`,
		"podman: {parentStorages: false}":                                        `podman.parentStorages=null`,
		"network: {allowEgressToPods: [{labels: {a: b}}]}":                       `network.allowEgressToPods=[{"labels":{"a":"b"}}]`,
		"network: {allowEgressToPods: [{a: b, namespace: c}]}": `network.allowEgressToPods=` +
			`[{"labels":{"a":"b","namespace":"c"},"namespace":"*"}]`,
		"network: {allowEgressToPods: [{namespace: c}]}":           "!labels: required",
		"network: {allowEgressToPods: [{labels: {a: b}, nme: c}]}": "!unknown field",
		"podman: {parentStorages: [b]}":                            `!the blueprint has no storage "b"`,
		"k8shelld: {connection: {allowAnyNS: maybe}}":              "!k8shelld.connection.allowAnyNS: must be true or false",
		"k8shelld: {ignoreOrphans: ['(']}":                         "!k8shelld.ignoreOrphans[0]: invalid regular expression",
		"apps: {a: {start: x}}":                                    "!apps.a.start: must be a list of strings",
		"apps: {a: {restartPolicy: often}}":                        `!apps.a.restartPolicy: "often": must be one of`,
		"apps: {a: {autoStart: 1}}":                                "!apps.a.autoStart: must be true or false",
		"apps: {a: {other: 1}}":                                    `apps.a={"other":1}`,
		"podman: {storages: {a: {type: scratch, path: /a}}}":       "!podman.storages.a.type",
		"podman: {enabled: true, image: x, storages: {a: {type: memory, path: /var/lib/containers}}}": "!duplicate path",
	} {
		set, err := load(t, map[string]string{"a.yaml": "name: a\ntemplate: base\n" + written + "\n"})
		if err == nil {
			_, err = resolve(t, set, Order{Name: "a"})
		}
		if says, refused := strings.CutPrefix(want, "!"); refused {
			if said := strings.Join(problemsOf(err), " "); !strings.Contains(said, says) {
				t.Errorf("%s: %q", written, said)
			}
			continue
		}
		field, value, _ := strings.Cut(want, "=")
		if err != nil {
			t.Errorf("%s: %q", written, problemsOf(err))
		} else if got := at(fieldsOf(t, first(t, set)), field); got != value {
			t.Errorf("%s: %s", written, got)
		}
	}
	b, err := resolve(t, platformSet(t), Order{Name: "default", Overrides: []Override{
		{Flag: "--set", Path: "network.allowEgressToPods", Value: "[{app: db}]"},
	}})
	if pods := b.Network.AllowEgressToPods; err != nil || len(pods) != 1 || pods[0].Namespace != "*" {
		t.Errorf("%v, %+v", err, pods)
	}
}
