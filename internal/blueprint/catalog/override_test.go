package catalog

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

func setting(texts ...string) Order {
	o := Order{Name: "dev"}
	for _, text := range texts {
		path, value, _ := strings.Cut(text, "=")
		o.Overrides = append(o.Overrides, Override{Flag: "--set", Path: path, Value: value})
	}
	return o
}

func TestOverrides(t *testing.T) {
	b, err := resolve(t, platformSet(t), setting(
		"image=team/x:2", "resources.cpu=2", "env.FOO=1.10", "env.TEAM=red", "env.EMPTY=", `env.A\.B=x`,
		"enableApps=true",
		"network.allowEgressToCIDRs={10.0.0.0/8,1.0.0.0/8}", "storages.tmp.type=memory", "storages.tmp.path=/scratch",
		"storages.tmp.enabled=false", "storages.tmp.fsOwnerUid=7", "initScripts=[{name: a, script: b}]",
		"apps.editor={port: 1}",
		"splash=!cel user.email", "resources.cpu=3",
	))
	if err != nil {
		t.Fatal(err, fault.From(err).Problems)
	}
	tmp := b.Storages["tmp"]
	switch {
	case b.Image != "docker.io/team/x:2", b.Resources.CPU != "3", b.Resources.Memory != "512Mi", !b.EnableApps,
		b.Env["FOO"] != "1.10", b.Env["TEAM"] != "red", b.Env["A.B"] != "x", len(b.Env) != 4,
		len(b.Network.AllowEgressToCIDRs) != 2, tmp.On(), *tmp.FsOwnerUID != 7, len(b.InitScripts) != 2,
		b.Splash != "!cel user.email":
		t.Errorf("%+v", b)
	}
	if b.Origins["resources.cpu"] != "--set" || b.Origins["storages.tmp.path"] != "--set" ||
		strings.Contains(b.Origins["resources.memory"], "--set") {
		t.Errorf("%v", b.Origins)
	}
}

func TestOverridesAreRefusedTogether(t *testing.T) {
	for text, says := range map[string]string{
		"resources.gpu=1": "--set resources.gpu: unknown field",
		"resources.cup=1": "--set resources.cup: unknown field: did you mean resources.cpu?",
		"nope=1":          "--set nope: unknown field",
		"securityContext.privileged=1": "--set securityContext.privileged: cannot be set by a flag; these " +
			"can: splash, image",
		"name=x":                  "--set name: cannot be set",
		"template=base":           "--set template: cannot be set",
		"isTemplate=true":         "--set isTemplate: cannot be set",
		"resources.cpu.x=1":       "--set resources.cpu.x: unknown field: resources.cpu is a string",
		"resources=1":             "--set resources: expected a mapping, found a number",
		"enableApps=perhaps":      "--set enableApps: expected a boolean, found a string",
		"enableApps=":             "--set enableApps: expected a boolean, found null",
		"initScripts[0].name=x":   "--set initScripts[0].name: unknown field",
		"initScripts.0.name=x":    "set the whole list: initScripts={a,b}",
		"env..A=x":                "empty part in the path",
		"=x":                      "empty part in the path",
		"env=&a [*a]":             "is not a mapping of strings",
		"resources.memory=lots":   `--set resources.memory: invalid quantity "lots"`,
		"storages.x.claimSpec=1":  "--set storages.x.claimSpec: expected a mapping, found a number",
		"storages={x: {mode: a}}": `--set storages: unknown field "mode"`,
		"apps." + strings.Repeat("a.", 100) + "a=1": "path has more than 64 parts",
	} {
		_, err := resolve(t, platformSet(t), setting(text))
		if all := strings.Join(fault.From(err).Problems, "\n"); fault.CodeOf(err) != fault.InvalidArgument ||
			!strings.Contains(all, says) {
			t.Errorf("%s: want %q in %q", text, says, all)
		}
	}
	_, err := resolve(t, platformSet(t), setting("a=1", "b=2"))
	if len(fault.From(err).Problems) != 2 {
		t.Errorf("%q", fault.From(err).Problems)
	}
}

func FuzzOverride(f *testing.F) {
	f.Add("resources.cpu", "2")
	f.Add("storages", "{a: {type: local}}")
	f.Fuzz(func(t *testing.T, path, text string) {
		b, err := resolve(t, platformSet(t),
			Order{Name: "dev", Overrides: []Override{{Flag: "--set", Path: path, Value: text}}})
		if err == nil && (len(b.SecurityContext) != 1 || b.Hostname != "" || b.ExtFiles != nil) {
			t.Errorf("--set %q=%q sets what it must not", path, text)
		}
	})
}
