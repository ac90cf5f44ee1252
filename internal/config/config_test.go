package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/berthdev/berth/internal/fault"
)

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func load(t *testing.T, file, flag string) (Config, error) {
	t.Helper()
	t.Setenv("BERTH_CONFIG", file)
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	flags.String("blueprints", "", "")
	if flag != "" {
		if err := flags.Parse([]string{"--blueprints", flag}); err != nil {
			t.Fatal(err)
		}
	}
	return Load(flags, os.Getenv)
}

func TestPrecedence(t *testing.T) {
	file := write(t, "blueprints: /from/file\ndefaultRegistry: Registry.Example.com:5000\n")
	c, err := load(t, file, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Blueprints != "/from/file" || c.DefaultRegistry != "Registry.Example.com:5000" ||
		c.DefaultBlueprint != "default" {
		t.Errorf("from the file: %+v", c)
	}
	t.Setenv("BERTH_BLUEPRINTS", "/from/env")
	if c, _ = load(t, file, ""); c.Blueprints != "/from/env" {
		t.Errorf("the environment wins over the file: %+v", c)
	}
	if c, _ = load(t, file, "/from/flag"); c.Blueprints != "/from/flag" {
		t.Errorf("a flag wins over the environment: %+v", c)
	}
}

func TestUnknownKeysAreErrorsWithTheirLines(t *testing.T) {
	_, err := load(t, write(t, "blueprints: /x\nblueprnts: /y\ncolour: red\n"), "")
	f := fault.From(err)
	all := strings.Join(f.Problems, "\n")
	if f.Code != fault.InvalidArgument ||
		!strings.Contains(all, `config.yaml:2:1: unknown field "blueprnts": did you mean blueprints?`) ||
		!strings.Contains(all, `config.yaml:3:1: unknown field "colour"`) {
		t.Errorf("%v: %s", err, all)
	}
}

func TestExpansion(t *testing.T) {
	file := write(t, "blueprints: ${TEAM_DIR}/blueprints\ndefaultRegistry: !file registry.txt\n")
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "registry.txt"), []byte("ghcr.io\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := load(t, file, ""); !strings.Contains(strings.Join(fault.From(err).Problems, ""),
		"config.yaml:1:13: the variable TEAM_DIR is not set") {
		t.Errorf("a variable that is not set: %v %q", err, fault.From(err).Problems)
	}
	t.Setenv("TEAM_DIR", "/team")
	c, err := load(t, file, "")
	if err != nil || c.Blueprints != "/team/blueprints" || c.DefaultRegistry != "ghcr.io" {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestIdentity(t *testing.T) {
	t.Setenv("ORG", "acme")
	file := write(t, `identity:
  providers:
  - {kind: kubernetes, stripPrefix: "oidc:"}
  - {kind: file, path: users.yaml}
  - {kind: github, organization: "${ORG}", tokenFile: /run/token, timeout: 5s}
`)
	c, err := load(t, file, "")
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	p := c.Identity.Providers
	if len(p) != 3 || p[0].StripPrefix != "oidc:" || p[1].Path != filepath.Join(filepath.Dir(file), "users.yaml") ||
		p[2].Organization != "acme" || p[2].Timeout != "5s" {
		t.Errorf("%+v", p)
	}
	_, err = load(t, write(t, `blueprnts: x
identity:
  providers:
  - {kind: ldap}
  - {kind: file}
  - {kind: file, path: x, name: y}
  - {kind: github, cli: true, tokenEnv: X, timeout: soon}
  - {kind: git, url: "https://bot:hunter2@host/{name}"}
  - {kind: git, url: "https://host/fixed"}
  - {kind: kubernetes, colour: red}
  - {kind: git, url: "ssh://git@host/{name}", cli: true}
`), "")
	all := strings.Join(fault.From(err).Problems, "\n")
	for _, want := range []string{
		`config.yaml:1:1: unknown field "blueprnts": did you mean blueprints?`,
		`config.yaml:4:12: kind "ldap": must be one of`, "config.yaml:5:5: kind file requires path",
		"config.yaml:6:27: name is not allowed with kind file",
		"config.yaml:7:5: tokenEnv, tokenFile and cli are mutually exclusive",
		`config.yaml:7:53: invalid timeout "soon"`,
		"config.yaml:8:22: url must not hold a login", "config.yaml:9:22: url of kind git must contain {name}",
		`config.yaml:10:24: unknown field "colour"`,
		"config.yaml:11:52: cli requires an https url",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("missing %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, "hunter2") {
		t.Errorf("a password is repeated:\n%s", all)
	}
}

func TestMissingFile(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	if _, err := load(t, "", ""); err != nil {
		t.Errorf("a missing default file is an error: %v", err)
	}
	if _, err := load(t, "/does/not/exist", ""); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("a file that was named must exist: %v", err)
	}
}
