package catalog

import (
	"encoding/json"
	"os"
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
		"name":                           `"full"`,
		"description":                    `"Every field"`,
		"splash":                         `"Welcome to {{.Hostname}}"`,
		"hostname":                       `"box"`,
		"subdomain":                      `"team"`,
		"image":                          `"ghcr.io/example/dev:1"`,
		"imagePullPolicy":                `"Always"`,
		"k8shelld.image":                 `"ghcr.io/example/agent:v1.2.3"`,
		"k8shelld.imagePullPolicy":       `"Never"`,
		"k8shelld.ignoreOrphans":         `["^sshd","tmux"]`,
		"k8shelld.connection":            `{"allowAnyNS":true,"allowAnySA":false}`,
		"env.SITE":                       `"north"`,
		"env.LABEL":                      `"alice-o--smith"`,
		"env.WHO":                        `"alicefiletrue"`,
		"env.WHERE":                      `"orgprojmainhttps://example.com/org/proj.git"`,
		"env.ID":                         `"alice-1234567full"`,
		"network.networkPolicyClass":     `"organization"`,
		"network.allowEgressToCIDRs":     `["192.0.2.0/24","10.0.0.0/8"]`,
		"network.allowEgressToPods":      `[{"labels":{"app":"database","tier":"data"},"namespace":"*"}]`,
		"resources":                      `{"cpu":"2","memory":"4Gi"}`,
		"podman.enabled":                 `true`,
		"podman.image":                   `"quay.io/podman/stable:v5"`,
		"podman.resources":               `{"cpu":"1","memory":"2Gi"}`,
		"podman.createDockerSockSymlink": `true`,
		"podman.parentStorages":          `["*"]`,
		"podman.extFiles":                `{"/etc/containers/registries.conf":"[registries]"}`,
		"podman.storages.images":         `{"enabled":true,"path":"/images","sizeLimit":"5Gi","type":"emptyDir"}`,
		"podman.securityContext": `{"appArmorProfile":{"type":"Unconfined"},` +
			`"runAsGroup":1000,"runAsUser":1000}`,
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
		"initScripts": `[{"always":true,"name":"tools","script":"echo new"},` +
			`{"name":"more","script":"echo more"}]`,
		"showInitScriptStatus":          `true`,
		"securityContext":               `{"privileged":false}`,
		"extFiles":                      `{"/etc/motd.d/a":"hello"}`,
		"enableApps":                    `true`,
		"apps.editor.name":              `"Editor"`,
		"apps.editor.enabled":           `true`,
		"apps.editor.binary":            `"/usr/bin/editor"`,
		"apps.editor.versionCmd":        `["editor","--version"]`,
		"apps.editor.versionRegex":      `"([0-9.]+)"`,
		"apps.editor.install":           `"apk add editor"`,
		"apps.editor.start":             `["editor","--listen"]`,
		"apps.editor.listen":            `"127.0.0.1:8080"`,
		"apps.editor.restartPolicy":     `"on-failure"`,
		"apps.editor.maxRestartBackoff": `"30s"`,
		"apps.editor.installAsRoot":     `true`,
		"apps.editor.autoStart":         `true`,
		"apps.editor.protocol":          `"https"`,
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
		"k8shelld: {ignoreOrphans: true}":  `k8shelld.ignoreOrphans=[".*"]`,
		"k8shelld: {ignoreOrphans: false}": `k8shelld.ignoreOrphans=null`,
		"k8shelld: {ignoreOrphans: [a]}":   `k8shelld.ignoreOrphans=["a"]`,
		"podman: {parentStorages: [a]}\n" +
			"storages: {a: {type: memory, path: /a}}": `podman.parentStorages=["a"]`,
		"podman: {parentStorages: false}":                          `podman.parentStorages=null`,
		"network: {allowEgressToPods: [{labels: {a: b}}]}":         `network.allowEgressToPods=[{"labels":{"a":"b"}}]`,
		"network: {allowEgressToPods: [{namespace: c}]}":           "!labels: required",
		"network: {allowEgressToPods: [{labels: {a: b}, nme: c}]}": "!unknown field",
		"podman: {parentStorages: [b]}":                            `!the blueprint has no storage "b"`,
		"k8shelld: {connection: {allowAnyNS: maybe}}": "!k8shelld.connection.allowAnyNS: " +
			"must be true or false",
		"k8shelld: {ignoreOrphans: ['(']}":                   "!k8shelld.ignoreOrphans[0]: invalid regular expression",
		"apps: {a: {start: x}}":                              "!apps.a.start: must be a list of strings",
		"apps: {a: {restartPolicy: often}}":                  `!apps.a.restartPolicy: "often": must be one of`,
		"apps: {a: {autoStart: 1}}":                          "!apps.a.autoStart: must be true or false",
		"apps: {a: {other: 1}}":                              `apps.a={"other":1}`,
		"podman: {storages: {a: {type: scratch, path: /a}}}": "!podman.storages.a.type",
		"podman: {enabled: true, image: x, storages: {a: {type: memory, path: " +
			"/var/lib/containers}}}": "!duplicate path",
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

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") + "\n" }

func first(t *testing.T, set *Set) blueprint.Blueprint {
	t.Helper()
	b, err := resolve(t, set, Order{Name: "a"})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A namespace beside labels may be berth's field, where labels: is forgotten, or a label of k8shell's: neither is
// chosen.
func TestAmbiguousPods(t *testing.T) {
	const both = `Write {namespace: dev, labels: {...}} or {namespace: "*", labels: {namespace: dev, ...}}`
	for written, want := range map[string]string{
		"{namespace: dev, app: db}":           both,
		"{namespace: dev, labels: {app: db}}": "",
		"{app: db, tier: data}":               "",
		"{app: !cel user.username}":           "",
		"{app: 1}":                            `unknown field "app"`,
		"{app: }":                             `unknown field "app"`,
	} {
		text := "blueprints:\n- {name: a, template: base, network: {allowEgressToPods: [" + written + "]}}\n"
		_, err := load(t, map[string]string{"a.yaml": text})
		if said := strings.Join(problemsOf(err), "\n"); (want == "") != (err == nil) || !strings.Contains(said, want) {
			t.Errorf("%s: %q, want %q", written, said, want)
		}
	}
}
