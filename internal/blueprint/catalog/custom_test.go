package catalog

import (
	"fmt"
	"maps"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

const platform = `blueprints:
- name: dev
  template: base
  env: {TEAM: blue}
  securityContext: {runAsUser: 1000}
  initScripts: [{name: harden, script: x}]
`

func platformSet(t testing.TB) *Set {
	t.Helper()
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	if problems := set.add(blueprint.Source{Name: "platform.yaml", Text: []byte(platform)}); len(problems) > 0 {
		t.Fatal(problems)
	}
	return set
}

func own(text string) Order {
	return Order{Custom: &blueprint.Source{Name: ".k8shell.yaml", Text: []byte(text)}, As: "repo-org-" +
		strings.Repeat("p", 50)}
}

func TestCustomBlueprint(t *testing.T) {
	b, err := resolve(t, platformSet(t), own(`# of a repository
name: mine
template: dev
splash: Welcome
image: ghcr.io/org/proj:1
env: {A: !cel user.username}
network: {networkPolicyClass: isolated, allowEgressToCIDRs: [10.0.0.0/8]}
resources: {memory: 2Gi}
storages: {tmp: {type: memory, path: /scratch}}
initScripts: [{name: deps, script: make deps}]
enableApps: true
apps: {editor: {port: 8080}}
`))
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	if b.Name != own("").As || b.Env["A"] != "alice" || b.Env["TEAM"] != "blue" || len(b.InitScripts) != 2 ||
		b.SecurityContext["runAsUser"] != 1000 {
		t.Errorf("%+v", b)
	}
	if got := b.Origins["env.A"]; got != "mine (.k8shell.yaml:6), !cel user.username" &&
		!strings.Contains(got, ".k8shell.yaml:6), !cel user.username") {
		t.Errorf("the origin is %q", got)
	}
	if strings.Join(b.Lineage, " ") != own("").As+" dev base" {
		t.Errorf("the lineage is %q", b.Lineage)
	}
}

// Whatever a platform blueprint has and a custom one must not set, it is refused by name, however it is written.
func TestBoundaryOfCustomBlueprints(t *testing.T) {
	platformOnly := slices.Sorted(maps.Keys(yamldoc.Fields(reflect.TypeFor[blueprint.Blueprint]())))
	platformOnly = slices.DeleteFunc(platformOnly,
		func(f string) bool { return f == "template" || slices.Contains(blueprint.CustomFields(), f) })
	if len(platformOnly) < 8 {
		t.Fatal(platformOnly)
	}
	refusal := func(text string) string {
		_, err := resolve(t, platformSet(t), own(text))
		if err == nil {
			return ""
		}
		return strings.Join(fault.From(err).Problems, "\n")
	}
	for _, field := range platformOnly {
		says := fmt.Sprintf("field %q is only allowed in platform blueprints", field)
		for way, text := range map[string]string{
			"plainly":         "template: dev\n%s: 1\n",
			"as nothing":      "template: dev\n%s:\n",
			"quoted":          "template: dev\n\"%s\": 1\n",
			"tagged":          "template: dev\n!!str %s: 1\n",
			"merged":          "template: dev\n<<: {%s: 1}\n",
			"merged twice":    "template: dev\n<<: [{image: x}, {<<: {%s: 1}}]\n",
			"through anchors": "template: dev\napps: &a {%s: 1}\n<<: *a\n",
			"as an alias":     "template: dev\napps: {x: &k %s}\n*k : 1\n",
			"as expression":   "template: dev\n%s: !cel '1'\n",
			"in flow style":   "{template: dev, ? %s : 1}\n",
		} {
			if got := refusal(fmt.Sprintf(text, field)); !strings.Contains(got, says) ||
				!strings.Contains(got, ".k8shell.yaml:") {
				t.Errorf("%s %s: %q", field, way, got)
			}
		}
	}
	for text, says := range map[string]string{
		"image: x": "template: required",
		"template: nope": `.k8shell.yaml:1:11: template: unknown platform ` +
			`blueprint "nope": must be one of base, default, dev`,
		"template: !cel '\"dev\"'":               "template: must not be an expression",
		"{template: dev, name: !cel user.email}": "name: must not be an expression",
		"template: .k8shell.yaml":                "unknown platform blueprint",
		"template: dev\ntemplate: base":          `duplicate key "template" (first on line 1)`,
		"template: dev\nimage: a\nimage: b":      `duplicate key "image" (first on line 2)`,
		"template: dev\nimge: a": `.k8shell.yaml:2:1: unknown field "imge": ` +
			`did you mean image?`,
		"template: dev\nimge: [a]": `.k8shell.yaml:2:7: expected a string, found a list`,
		"template: dev\nfoo: a": `.k8shell.yaml:2:1: unknown field "foo": must be ` +
			`one of apps, enableApps, env, image`,
		"template: dev\ncpu: 1": `.k8shell.yaml:2:1: unknown field "cpu": did you ` +
			`mean resources.cpu?`,
		"template: dev\n!cel image: a":  "a key must be a string",
		"template: dev\n!x image: a":    "a key must be a string",
		"template: dev\nimage: !x a":    "unknown tag !x",
		"template: dev\nenv: !cel user": "expected a mapping of strings, found an expression",
		"template: dev\nenv: {A: !cel user.nme}": ".k8shell.yaml:2:10: character 5 of the expression: " +
			"undefined field 'nme'",
		"template: dev\n? [a]\n: b":    "a key must be a string",
		"blueprints: [{name: a}]":      `unknown field "blueprints"`,
		"- template: dev":              "expected the fields of a blueprint, found a list",
		"":                             "empty; a blueprint requires",
		"template: dev\n---\nimage: x": "more than one document",
		"template: dev\nstorages: {x: {mode: host}}":              `unknown field "mode"`,
		"template: dev\ninitScripts: [{name: harden, script: y}]": `initScripts[1].name: duplicate name "harden"`,
		"template: dev\nresources: {cpu: ~, memory: lots}":        `.k8shell.yaml:2:29: blueprint repo-org-`,
	} {
		if got := refusal(text); !strings.Contains(got, says) {
			t.Errorf("%q: want %q in %q", text, says, got)
		}
	}
}

// What is no blueprint at all has one problem, not one for each field that is missing.
func TestCustomBlueprintThatIsNone(t *testing.T) {
	for text, want := range map[string]string{
		"- template: dev": ".k8shell.yaml:1:1: expected the fields of a blueprint, found a list",
		"dev":             ".k8shell.yaml:1:1: expected the fields of a blueprint, found a string",
		"# dev":           ".k8shell.yaml: empty; a blueprint requires at least a template",
	} {
		_, err := resolve(t, platformSet(t), own(text))
		if got := fault.From(err).Problems; len(got) != 1 || !strings.HasPrefix(got[0], want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestHostileCustomBlueprintsAreRefused(t *testing.T) {
	all := hostile()
	for name, text := range map[string]string{
		"many expressions": "template: dev\nenv:\n" + strings.Repeat("  A: !cel user.email\n", 20_000),
		"expression without end": "template: dev\nenv: {A: !cel '" + strings.Repeat("[1,2,3,4,5,6,7,8,9].map(x, ", 9) +
			"1" + strings.Repeat(")", 9) + "[0] == [1] ? \"a\" : \"b\"'}",
		"expensive ones": "template: dev\nenv:\n" + func() (lines string) {
			for i := range 90 {
				lines += fmt.Sprintf("  A%d: !cel '%s'\n", i, strings.Repeat("[1,2,3,4,5,6,7,8,9].all(x, ", 6)+"true"+
					strings.Repeat(")", 6))
			}
			return lines
		}(),
	} {
		all[name] = struct{ text, says string }{text, ""}
	}
	for name, tc := range all {
		t.Run(name, func(t *testing.T) {
			set := platformSet(t)
			before, began := allocated(), time.Now()
			_, err := resolve(t, set, own(tc.text))
			took, bytes := time.Since(began), allocated()-before
			f := fault.From(err)
			if f.Code != fault.InvalidArgument || len(f.Problems) == 0 || len(f.Problems) > yamldoc.MaxProblems+1 {
				t.Errorf("%v: %.300q", err, f.Problems)
			}
			t.Logf("%s, %d MB allocated, %d problems", took, bytes>>20, len(f.Problems))
			if bytes > 90<<20 {
				t.Errorf("%d MB were allocated", bytes>>20)
			}
		})
	}
}

// No input causes a panic, or sets what only the platform may set.
func FuzzCustom(f *testing.F) {
	for _, text := range []string{
		"template: dev\nenv: {A: !cel user.email}", "template: dev\n<<: {image: x}",
		"template: dev\nstorages: {a: {type: local}}",
		"{template: dev, initScripts: [{name: a, script: b}]}",
		"template: dev\nnetwork: {allowEgressToPods: [{labels: {a: b}}]}", "&a [*a]",
		"template: dev\nenv: {HOME: /}\nstorages: {home: {type: memory, path: /k8shell/.., fsOwnerUid: 0}}",
		"template: dev\nstorages: {a: {type: memory, path: /data}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		b, err := resolve(t, platformSet(t), own(text))
		if err != nil {
			return
		}
		if b.SecurityContext["runAsUser"] != 1000 || len(b.SecurityContext) != 1 || b.ExtFiles != nil ||
			b.Hostname != "" ||
			b.K8shelld.Image != "" || b.Podman.Image != "" ||
			b.HelperImage != "docker.io/"+blueprint.DefaultHelperImage {
			t.Errorf("%q sets what it must not: %+v", text, b)
		}
		for name, s := range b.Storages {
			if top, _, _ := strings.Cut(strings.TrimPrefix(path.Clean(s.Path), "/"), "/"); s.On() &&
				slices.Contains([]string{"", "bin", "etc", "k8shell", "lib", "usr"}, top) {
				t.Errorf("%q mounts storage %s at %q", text, name, s.Path)
			}
		}
	})
}

func FuzzPlatform(f *testing.F) {
	f.Add(layers)
	f.Add(platform)
	f.Fuzz(func(t *testing.T, text string) {
		set, err := Builtin()
		if err != nil {
			t.Fatal(err)
		}
		if set.add(blueprint.Source{Name: "a.yaml", Text: []byte(text)}) != nil {
			return
		}
		_ = set.check(nil, set.own, func(d Draft) []string { return d.limits(t.Context()) })
		for _, name := range set.Names() {
			_, _ = resolve(t, set, Order{Name: name})
		}
	})
}
