package catalog

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
)

// bad are custom blueprints that nobody can provision, and a part of what is said of each.
func bad() map[string]struct{ text, says string } {
	many := "env:\n"
	for i := range maxEvaluated + 1 {
		many += fmt.Sprintf("  A%03d: !cel \"'a' + string(%d)\"\n", i, i)
	}
	scripts := "initScripts:\n"
	for i := range 100 {
		scripts += fmt.Sprintf("- {name: s%d, script: x}\n", i)
	}
	large := strings.Repeat("xxxxxxxxx ", 60_000)
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 40), ",") + "]"
	return map[string]struct{ text, says string }{
		"101 expressions": {many, "env.A100: a blueprint can have at most 100 expressions"},
		"a costly one": {`splash: !cel "string(` + list + `.map(a, ` + list + `.map(b, ` + list +
			`.map(c, a*b*c).size()).size()).size())"`, "splash: the expression exceeds its limit of steps"},
		"a large one": {
			`splash: !cel "string(` + list + `.map(a, ` + list + `.map(b, ` + list + `)).size())"`,
			"splash: an intermediate value is larger than",
		},
		"a NUL":      {`env: {A: "a\0b"}`, "env.A: must not contain a NUL character"},
		"no text":    {`env: {A: !!binary gA==}`, "env.A: "},
		"a quantity": {`resources: {cpu: 1e2147483647}`, `resources.cpu: invalid quantity "1e2147483647"`},
		"a claim": {`storages: {a: {type: local, path: /data, claimSpec: {accessModes: [ReadWriteOnce], ` +
			`resources: {requests: {storage: 1e2147483647}}}}}`, "storages.a.claimSpec.resources.requests.storage: " +
			"invalid quantity"},
		"an afterlife": {`storages: {a: {type: scratch, path: /data, afterlife: "0s"}}`, "storages.a.afterlife: "},
		"a limit":      {`storages: {a: {type: memory, path: /data, sizeLimit: "-1"}}`, "storages.a.sizeLimit: "},
		"an owner": {
			`storages: {a: {type: memory, path: /data, fsOwnerUid: 99999999999}}`,
			"storages.a.fsOwnerUid: 99999999999: must be from 0",
		},
		"a script's name":   {`initScripts: [{name: a b, script: x}]`, "initScripts[0].name: "},
		"a hundred scripts": {scripts, "initScripts: must have at most 99 scripts"},
		"large scripts": {
			"initScripts:\n- {name: a, script: &large " + large + "}\n- {name: b, script: *large}\n",
			"initScripts: must have at most 1000000 bytes in total",
		},
		"a large variable":  {"env: {A: " + large[:130_000] + "}\n", "env.A: must have at most 128000 bytes"},
		"a variable's name": {`env: {A B: x}`, "env.A B: "},
		"a storage's name":  {`storages: {A_B: {type: memory, path: /data}}`, "storages.A_B: "},
		"a path twice": {
			`storages: {a: {type: memory, path: /data}, b: {type: memory, path: /data}}`,
			"storages.b.path: duplicate path",
		},
		"annotations": {
			"storages: {a: {type: local, path: /data, claimSpec: {accessModes: [ReadWriteOnce], " +
				"resources: {requests: {storage: 1Gi}}}, claimSpecAnnotations: {a: " + large[:300_000] + "}}}",
			"storages.a.claimSpecAnnotations: must have at most 262144 bytes",
		},
		"apps":             {"apps: {a: " + large + "}\n", "apps: must have at most 256000 bytes"},
		"apps of infinity": {"apps: {a: .inf}\n", "apps: unsupported value"},
		"a network class":  {`network: {networkPolicyClass: open}`, "network.networkPolicyClass: "},
		"a block":          {`network: {allowEgressToCIDRs: [x]}`, "network.allowEgressToCIDRs[0]: invalid CIDR"},
		"a foreign field": {
			`securityContext: {privileged: true}`,
			`field "securityContext" is only allowed in platform blueprints`,
		},
		"no such template":   {`template: none`, "template"},
		"a shell expression": {`image: !sh "x"`, "unknown tag !sh"},
	}
}

// What a provisioning refuses by itself, validating a file refuses with the same words, and the reverse.
func TestValidateSaysWhatProvisioningSays(t *testing.T) {
	for name, test := range bad() {
		t.Run(name, func(t *testing.T) {
			text := test.text
			if !strings.Contains(text, "template:") {
				text = "template: default\n" + text
			}
			file := filepath.Join(t.TempDir(), blueprint.CustomFile)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Check(t.Context(), Configured{}, []string{file})
			if err == nil {
				t.Fatal("it is said to be fine")
			}
			checked := fault.From(err).Problems
			set, err := Builtin()
			if err != nil {
				t.Fatal(err)
			}
			_, err = resolve(t, set, Order{Custom: &blueprint.Source{Name: file, Text: []byte(text)}, As: "custom"})
			provisioned := fault.From(err).Problems
			if diff := cmp.Diff(provisioned, checked); diff != "" {
				t.Errorf("(-provision +validate):\n%.2000s", diff)
			}
			if !slices.ContainsFunc(checked, func(p string) bool { return strings.Contains(p, test.says) }) {
				t.Errorf("%.500q, want %q", checked, test.says)
			}
		})
	}
}
