package catalog

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

// The mistakes that people make in a file of blueprints: each is told where it is, with what is meant, and with nothing
// that only follows from it. What is below a blueprint's template is written from line 4 on.
func TestMistakes(t *testing.T) {
	for name, test := range map[string]struct {
		written string
		want    []string
	}{
		"nothing wrong":       {"", nil},
		"a misspelled field":  {"imge: alpine", []string{`4:5: unknown field "imge": did you mean image?`}},
		"a field in capitals": {"Image: alpine", []string{`4:5: unknown field "Image": did you mean image?`}},
		"a field with a wrong value, too": {
			"resorces: {memory: 512m}",
			[]string{
				`4:5: unknown field "resorces": did you mean resources?`,
				`4:24: blueprint a: resources.memory: "512m" is in fractions of a byte: did you mean 512Mi?`,
			},
		},
		"a field one level too high": {
			"memory: 2Gi",
			[]string{`4:5: unknown field "memory": did you mean resources.memory?`},
		},
		"requests as Kubernetes has them": {
			"resources: {requests: {cpu: 1}}",
			[]string{`4:17: unknown field "requests": must be one of cpu, memory`},
		},
		"a field of another tool": {"ports: [80]", []string{`4:5: unknown field "ports"`}},
		"a field twice": {
			"splash: a\n    splash: b",
			[]string{`5:5: duplicate key "splash" (first on line 4)`},
		},
		"a variable twice": {
			"env:\n      A: x\n      A: y",
			[]string{`6:7: duplicate key "A" (first on line 5)`},
		},
		"variables as a list": {
			"env:\n      - A=x",
			[]string{"5:7: expected a mapping of strings, found a list"},
		},
		"variables as docker has them": {
			"env: [{name: A, value: x}]",
			[]string{"4:10: expected a mapping of strings, found a list"},
		},
		"a mapping for a text": {"image: {name: alpine}", []string{"4:12: expected a string, found a mapping"}},
		"a text for a switch":  {"enableApps: yes please", []string{"4:17: expected a boolean, found a string"}},
		"a number in words":    {"limits: {maxAgeHours: 2h}", []string{"4:27: expected a number, found a string"}},
		"an enum in lower case": {
			"imagePullPolicy: always",
			[]string{`4:22: blueprint a: imagePullPolicy: "always": must be one of Always, IfNotPresent, Never`},
		},
		"a type of storage": {
			"storages: {home: {type: pvc, path: /root}}",
			[]string{`4:29: blueprint a: storages.home.type: "pvc": must be one of`},
		},
		"a storage without a type": {
			"storages: {home: {path: /root}}",
			[]string{`4:22: blueprint a: storages.home.type: "": must be one of`},
		},
		"a storage as a text": {"storages: {home: /root}", []string{"4:22: expected a mapping, found a string"}},
		"storages as a list": {
			"storages: [{name: home, path: /root}]",
			[]string{"4:15: expected a mapping, found a list"},
		},
		"a relative path": {
			"storages: {home: {type: memory, path: home}}",
			[]string{`4:43: blueprint a: storages.home.path: invalid path "home"`},
		},
		"a claim without a size": {"storages: {home: {type: local, path: /root, claimSpec: {accessModes: " +
			"[ReadWriteOnce]}}}", []string{"4:60: blueprint a: storages.home.claimSpec.resources.requests.storage: " +
			"required: a size such as 10Gi"}},
		"a claim in milli": {
			"storages: {home: {type: local, path: /root, claimSpec: {accessModes: " +
				"[ReadWriteOnce], resources: {requests: {storage: 10m}}}}}",
			[]string{`4:123: blueprint a: storages.home.claimSpec.resources.requests.storage: "10m" is in fractions ` +
				`of a byte: did you mean 10Mi?`},
		},
		"a claim above its limit": {
			"storages: {home: {type: local, path: /root, claimSpec: {accessModes: " +
				"[ReadWriteOnce], resources: {requests: {storage: 10Gi}, limits: {storage: 1Gi}}}}}",
			[]string{`4:148: blueprint a: storages.home.claimSpec.resources.limits.storage: "1Gi" is less than what ` +
				`is requested, "10Gi"`},
		},
		"an afterlife in days": {
			"storages: {x: {type: scratch, path: /x, afterlife: 2d}}",
			[]string{`4:56: blueprint a: storages.x.afterlife: invalid duration "2d": use one such as 6h`},
		},
		"memory in milli": {
			"resources: {memory: 512m}",
			[]string{`4:25: blueprint a: resources.memory: "512m" is in fractions of a byte: did you mean 512Mi?`},
		},
		"memory without a unit": {
			"resources: {memory: 512}",
			[]string{`4:25: blueprint a: resources.memory: "512" must be at least 4Mi: did you mean 512Mi?`},
		},
		"memory in megabytes": {
			"resources: {memory: 512MB}",
			[]string{`4:25: blueprint a: resources.memory: invalid quantity "512MB": did you mean 512Mi?`},
		},
		"cores as memory": {
			"resources: {cpu: 2Gi}",
			[]string{`4:22: blueprint a: resources.cpu: "2Gi" is not a number of cores: did you mean 2?`},
		},
		"thousands of cores": {
			"resources: {cpu: 4000}",
			[]string{`4:22: blueprint a: resources.cpu: "4000" must be at most 1024 cores: did you mean 4000m?`},
		},
		"a space in an image": {
			"image: alpine latest",
			[]string{`4:12: blueprint a: image: "docker.io/library/alpine latest" contains a space`},
		},
		"an image in capitals": {
			"image: ghcr.io/Org/Dev",
			[]string{`4:12: blueprint a: image: invalid image "ghcr.io/Org/Dev"`},
		},
		"an address of an image": {
			"image: https://ghcr.io/org/dev",
			[]string{`4:12: blueprint a: image: invalid image`},
		},
		"a hostname": {
			"hostname: My_Host",
			[]string{"4:15: blueprint a: hostname: a lowercase RFC 1123 label must consist of"},
		},
		"an address for a block": {
			"network: {allowEgressToCIDRs: [10.0.0.1]}",
			[]string{`4:36: blueprint a: network.allowEgressToCIDRs[0]: invalid CIDR "10.0.0.1"`},
		},
		"a mapping for a list": {"initScripts: {a: echo}", []string{"4:18: expected a list, found a mapping"}},
		"scripts of one name": {
			"initScripts: [{name: a, script: x}, {name: a, script: y}]",
			[]string{`4:48: blueprint a: initScripts[1].name: duplicate name "a"`},
		},
		"a script without a name": {
			"initScripts: [{script: x}]",
			[]string{"4:19: blueprint a: initScripts[0].name: required"},
		},
		"a security context": {
			"securityContext: {runAsUsr: 1, capabilities: {dropp: [ALL]}}",
			[]string{
				"4:33: blueprint a: securityContext.runAsUsr: unknown field",
				"4:58: blueprint a: securityContext.capabilities.dropp: unknown field",
			},
		},
		"an unknown variable of CEL": {
			"splash: !cel usr.username",
			[]string{"4:13: character 1 of the expression: undeclared reference to 'usr'"},
		},
		"an expression of another type": {
			"enableApps: !cel user.uid",
			[]string{"4:17: expected a boolean, the expression returns int"},
		},
		"an expression without an end": {
			`splash: !cel "user.username +"`,
			[]string{"4:13: character 16 of the expression: Syntax error"},
		},
		"a tag like it": {"splash: !ce user.username", []string{"4:13: unknown tag !ce; use !cel"}},
		"a tab":         {"env:\n\tA: x", []string{"5:1: indented with a tab: use spaces"}},
		"a line too far to the left": {
			"env: {}\n   image: x",
			[]string{"5:4: this does not belong to the list above: check its indentation"},
		},
		"a line too far to the right": {"env: {}\n      image: x", []string{`5:7: `}},
		"a bracket that is not closed": {
			"env: {A: x\n    image: x",
			[]string{"5:5: a mapping in { } is not closed, or a comma is missing; it begins on line 4"},
		},
		"a quote that is not closed": {
			"env: {A: 'x}\n    image: x",
			[]string{"4:5: the quote that begins here is not closed"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			text := "blueprints:\n  - name: a\n    template: base\n    " + test.written + "\n"
			if err := os.WriteFile(filepath.Join(dir, "a.yaml"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Check(t.Context(), Configured{Dir: dir}, nil)
			var got []string
			for _, problem := range problemsOf(err) {
				got = append(got, strings.TrimPrefix(problem, filepath.Join(dir, "a.yaml")+":"))
			}
			if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// A provisioning says of platform blueprints what validating them says, whatever else is wrong with them.
func TestNothingHidesAnotherProblem(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.yaml": `blueprints:
  - name: team
    isTemplate: true
    template: bse
    env: {1A: x}
    storages: {x: {id: a}}
  - {name: lost, template: team, resources: {memory: 512m}}
  - {name: dev, template: base, env: {B C: x}}
  - {name: dev, template: base, resources: {cpu: 2Gi}}
  - {name: p, template: q, resources: {cpu: 500M}}
  - {name: q, template: r}
  - {name: r, template: p}
  - {name: entry, template: r}
  - {template: base, hostname: A_B}
  - {name: Ä B, template: base}
`,
		"b.yaml": "blueprints:\n - name: x\n  template: y\n",
		"c.yaml": "blueprints:\n- {name: dev, imge: x}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`a.yaml:4:15: template "bse" of blueprint "team" not found: did you mean base?`,
		"a.yaml:5:15: blueprint team: env.1A: ",
		`a.yaml:7:54: blueprint lost: resources.memory: "512m"`,
		"a.yaml:8:44: blueprint dev: env.B C: ",
		`a.yaml:9:12: duplicate blueprint "dev" (first on line 8)`,
		`a.yaml:9:50: blueprint dev: resources.cpu: "2Gi"`,
		"a.yaml:10:25: inheritance cycle: p → q → r → p",
		`a.yaml:10:45: blueprint p: resources.cpu: "500M"`,
		"a.yaml:14:5: name: required",
		"a.yaml:14:32: hostname: ",
		`a.yaml:15:12: name: no user string can name "Ä B"`,
		"b.yaml:3:3: ",
		`c.yaml:2:10: duplicate blueprint "dev" (first in ` + filepath.Join(dir, "a.yaml") + ":8)",
		`c.yaml:2:15: unknown field "imge": did you mean image?`,
	}
	_, err := Check(t.Context(), Configured{Dir: dir}, nil)
	checked := problemsOf(err)
	for i := range checked {
		checked[i] = strings.TrimPrefix(checked[i], dir+string(filepath.Separator))
	}
	if !slices.EqualFunc(checked, want, strings.HasPrefix) {
		t.Errorf("%s\nwant\n%s", strings.Join(checked, "\n"), strings.Join(want, "\n"))
	}
	_, err = Load(dir)
	loaded := problemsOf(err)
	for i := range loaded {
		loaded[i] = strings.TrimPrefix(loaded[i], dir+string(filepath.Separator))
	}
	if !slices.Equal(loaded, checked) {
		t.Errorf("provisioning says\n%s\nvalidating\n%s", strings.Join(loaded, "\n"), strings.Join(checked, "\n"))
	}
}

// A blueprint of a repository is told with the repository, the file and the commit, and with all that is wrong with it.
func TestMistakesInARepository(t *testing.T) {
	source := blueprint.Source{
		Name: "github.com/org/proj@main:.k8shell.yaml", Commit: "0123456789abcdef0123456789abcdef01234567",
		Text: []byte("template: dev\nimge: x\nresources: {memory: 512m}\nhostname: [x]\n"),
	}
	_, err := platformSet(t).Compose(Order{Custom: &source, As: "repo-org-proj"})
	want := []string{
		"github.com/org/proj@main:.k8shell.yaml:2:1: unknown field \"imge\": did you mean image?\n  imge: x\n  ^",
		"github.com/org/proj@main:.k8shell.yaml:3:21: blueprint repo-org-proj: resources.memory: \"512m\" is in " +
			"fractions of a byte: did you mean 512Mi?\n  resources: {memory: 512m}\n                      ^",
		"github.com/org/proj@main:.k8shell.yaml:4:1: field \"hostname\" is only allowed in platform blueprints",
	}
	if got := problemsOf(err); !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%q, want %q", got, want)
	}
	if f := fault.From(err); f.Message != "invalid blueprints, at commit 0123456789ab: 3 problems" ||
		f.Code != fault.InvalidArgument {
		t.Errorf("%s %q", f.Code, f.Message)
	}
}

func problemsOf(err error) []string {
	if err == nil {
		return nil
	}
	return fault.From(err).Problems
}
