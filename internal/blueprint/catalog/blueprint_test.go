package catalog

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/fault"
)

func load(t *testing.T, files map[string]string) (*Set, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return Load(dir)
}

func resolve(t testing.TB, set *Set, o Order) (blueprint.Blueprint, error) {
	t.Helper()
	d, err := set.Compose(o)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	return d.Resolve(t.Context(), expression.Facts{
		User:          expression.User{Username: "alice", UID: 1000, GID: 100, Roles: []string{"dev"}},
		WorkspaceName: "alice-a975fae",
	})
}

func TestBuiltin(t *testing.T) {
	set, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	b, err := resolve(t, set, Order{Name: "default"})
	if err != nil {
		t.Fatal(err)
	}
	if b.Image != "docker.io/library/alpine:3.22" || b.Resources.Memory != "512Mi" {
		t.Errorf("default is %+v", b)
	}
	if diff := cmp.Diff([]string{"default", "base"}, b.Lineage); diff != "" {
		t.Error(diff)
	}
	if _, err := resolve(t, set, Order{Name: "base"}); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a template can be provisioned: %v", err)
	}
	if _, err := resolve(t, set, Order{Name: "nope"}); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an unknown blueprint gives %v", err)
	}
}

func TestInherit(t *testing.T) {
	set, err := load(t, map[string]string{"team.yaml": `
blueprints:
  - name: team
    isTemplate: true
    template: base
    env: {A: "1", B: "1"}
    initScripts: [{name: one, script: echo one}]
  - name: dev
    template: team
    image: ghcr.io/team/dev:2
    env: {B: "2"}
    resources: {memory: 1Gi}
    initScripts: [{name: two, script: echo two}]
    storages:
      home:
        type: local
        path: /home/dev
        claimSpec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
      tmp: {type: memory, path: /scratch, sizeLimit: 64Mi}
`})
	if err != nil {
		t.Fatal(err)
	}
	b, err := resolve(t, set, Order{Name: "dev"})
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	if diff := cmp.Diff(map[string]string{"A": "1", "B": "2"}, b.Env); diff != "" {
		t.Error("mappings merge key by key:", diff)
	}
	if b.Resources != (blueprint.Resources{CPU: "500m", Memory: "1Gi"}) {
		t.Errorf("resources are %+v", b.Resources)
	}
	if len(b.InitScripts) != 2 || b.InitScripts[0].Name != "one" {
		t.Errorf("sequences append, the parent's first: %+v", b.InitScripts)
	}
	if b.Image != "ghcr.io/team/dev:2" || b.IsTemplate {
		t.Errorf("%+v", b)
	}
}

func TestProblemsAreReportedTogetherWithTheirLines(t *testing.T) {
	_, err := load(t, map[string]string{"a.yaml": `blueprints:
  - name: one
    imge: x
    env: [a]
  - name: two
    template: base
    network:
      policyClass: isolated
`})
	f := fault.From(err)
	if f.Code != fault.InvalidArgument || len(f.Problems) != 3 {
		t.Fatalf("%v: %q", err, f.Problems)
	}
	all := strings.Join(f.Problems, "\n")
	for _, want := range []string{
		"a.yaml:3:5: unknown field \"imge\"",
		"a.yaml:4:10: expected a mapping of strings, found a list",
		"a.yaml:8:7: unknown field \"policyClass\"",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("missing %q in\n%s", want, all)
		}
	}
}

// A file that is no mapping is one problem, whatever is in it.
func TestFileIsAList(t *testing.T) {
	_, err := load(t, map[string]string{"a.yaml": "- name\n- [dev]\n"})
	want := "a.yaml:1:1: expected a mapping with a list \"blueprints\", found a list"
	if f := fault.From(err); len(f.Problems) != 1 || !strings.Contains(f.Problems[0], want) {
		t.Errorf("%v: %q, want only %q", err, f.Problems, want)
	}
}

func TestValidate(t *testing.T) {
	set, err := load(t, map[string]string{"a.yaml": `blueprints:
  - name: bad
    template: base
    imagePullPolicy: Sometimes
    hostname: Not_A_Label
    resources: {memory: lots}
    env: {1A: x}
    initScripts: [{name: x, script: ""}, {name: x, script: y}]
    extFiles: {relative: x}
    securityContext: {runAsUsr: 1}
    storages:
      a: {type: local, path: /a}
      b: {type: emptyDir, path: b, claimSpec: {accessModes: [x]}}
      c: {type: shared, path: /c}
      d: {type: local, path: /d, sizeLimit: 1Gi, claimSpec: {storge: 1}}
`})
	if err != nil {
		t.Fatal(err)
	}
	_, err = resolve(t, set, Order{Name: "bad"})
	all := strings.Join(fault.From(err).Problems, "\n")
	for _, field := range []string{
		"imagePullPolicy", "hostname", "resources.memory", "env.1A", "initScripts[0].script", "initScripts[1].name",
		"extFiles", "securityContext.runAsUsr", "storages.a.claimSpec", "storages.b.path", "storages.b.claimSpec",
		"storages.c.claimSpec", "storages.d.sizeLimit", "storages.d.claimSpec.storge",
	} {
		if !strings.Contains(all, field+":") {
			t.Errorf("nothing is said about %s:\n%s", field, all)
		}
	}
}

func TestCycle(t *testing.T) {
	set, err := load(t,
		map[string]string{"a.yaml": "blueprints:\n- {name: a, template: b}\n- {name: b, template: a}\n"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = resolve(t, set, Order{Name: "a"})
	if all := strings.Join(fault.From(err).Problems, "\n"); !strings.Contains(all, "a → b → a") {
		t.Errorf("the circle is not printed: %s", all)
	}
}
