package config

import (
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// All that is wrong with a file is told at once, each where it is, with what is meant; no mistake is told again as what
// follows from it.
func TestMistakes(t *testing.T) {
	for name, test := range map[string]struct {
		file string
		want []string
	}{
		"keys": {"default-blueprint: x\ndefaultBluprint: y\nregistry: {server: a, username: b, pasword: hunter2}\n" +
			"foo: {}\n", []string{
			`1:1: unknown field "default-blueprint": did you mean defaultBlueprint?`,
			`2:1: unknown field "defaultBluprint": did you mean defaultBlueprint?`,
			`3:36: unknown field "pasword": did you mean password?`, `4:1: unknown field "foo"`,
		}},
		"types": {"blueprints: [a]\nregistry: a\njobs: [x]\ngateways: {name: a}\ncertificate: {enabled: yes please}\n" +
			"limits: {maxAgeHours: 2h}\n", []string{
			"1:13: expected a string, found a list", "2:11: expected a mapping, found a string",
			"3:7: expected a mapping, found a list", "4:11: expected a list, found a mapping",
			"5:24: expected a boolean, found a string", "6:23: expected a number, found a string",
		}},
		"values of everything": {`jobs: {store: redis, retention: 2d, nats: {url: "http://x", service: {port: 70000}}}
registry: {server: https://x, username: a, password: b}
repositories: {url: https://x/y, credentials: [{url: github.com, username: x}]}
certificate: {enabled: true, issuer: {kind: Clusterissuer}}
injectNamespaces: ["*", Shop_A]
blueprintConfigMaps: [{name: x}]
limits: {workspaces: -1}
gateways:
- {name: a, url: http://x, credential: {tokenFile: a}}
- {name: a, url: https://x, credential: {}}
policy: {gracePeriod: 5}
`, []string{
			`1:15: jobs.store "redis": must be one of`, `1:33: jobs.retention "2d": must be a duration`,
			"1:43: jobs.nats: url and service are mutually exclusive",
			`1:49: jobs.nats.url: scheme "http"`, "1:70: jobs.nats.service.name is missing",
			"1:77: jobs.nats.service.port: invalid port 70000",
			`2:20: registry.server: invalid hostname "https://x"`,
			"3:21: repositories.url: must be an address with {name}",
			"3:48: repositories.credentials[0]: requires exactly one of",
			"3:54: repositories.credentials[0].url: must be an address",
			"4:38: certificate.issuer.name: required", `4:45: certificate.issuer.kind: "Clusterissuer"`,
			`5:25: injectNamespaces[1]: invalid namespace "Shop_A"`,
			"6:23: blueprintConfigMaps[0]: requires a namespace", "7:22: limits.workspaces: -1",
			"9:18: gateways[0].url: must be https", `10:10: gateways[1].name: duplicate name "a"`,
			"10:41: gateways[1].credential: requires exactly one of",
			`11:23: policy.gracePeriod "5": must be a duration`,
		}},
		"providers": {"identity: {providers: {kind: file}}\n", []string{"1:23: expected a list, found a mapping"}},
		"providers misspelled": {
			"identity:\n  provider:\n  - kind: fil\n",
			[]string{`2:3: unknown field "provider": did you mean providers?`, `3:11: kind "fil": must be one of`},
		},
		"a key twice": {
			"blueprints: a\nregistry: {server: a, username: b, password: c}\nblueprints: b\n",
			[]string{`3:1: duplicate key "blueprints" (first on line 1)`},
		},
		"what is filled in": {
			"blueprints: ${NOT_SET}/x\ndefaultRegistry: !file none.txt\n",
			[]string{"1:13: the variable NOT_SET is not set", "2:18: !file: open "},
		},
		"a tab": {"registry:\n\tserver: x\n", []string{"2:1: indented with a tab: use spaces"}},
		"a line too far right": {
			"blueprints: b\n   defaultRegistry: d\n",
			[]string{`2:4: a second ": " in one line, or a wrong indentation`},
		},
		"a list":        {"- blueprints: x\n", []string{"1:1: expected a mapping, found a list"}},
		"two documents": {"blueprints: x\n---\nblueprints: y\n", []string{"2: more than one document"}},
	} {
		path := write(t, test.file)
		_, err := load(t, path, "")
		var got []string
		for _, problem := range fault.From(err).Problems {
			got = append(got, strings.TrimPrefix(problem, path+":"))
		}
		if !slices.EqualFunc(got, test.want, strings.HasPrefix) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
		if all := strings.Join(got, "\n"); strings.Contains(all, "hunter2") || strings.Contains(all, "^") {
			t.Errorf("%s: a line of the file is shown:\n%s", name, all)
		}
	}
}
