package others

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/fault"
)

// crlf is a text with the ends of lines that editors of Windows write.
func crlf(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

const blueprints = `blueprints:
  - name: dev
    template: default
    image: ghcr.io/example/dev:1.4
    initScripts:
      - name: both
        script: |
          one
          two
`

func TestSays(t *testing.T) {
	m := newMachine(t)
	out, _ := m.berth(0, "version")
	m.says(out, runtime.GOOS+"/"+runtime.GOARCH)
	out, _ = m.berth(0, "help")
	m.says(out, "Workspaces:", "berth environment")
	out, _ = m.berth(0, "help", "environment")
	m.says(out, "BERTH_CONFIG")
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		out, _ = m.berth(0, "completion", shell)
		m.says(out, "completion", "__complete")
	}
	out, _ = m.berth(0, "__complete", "blueprint", "val")
	m.says(out, "validate\t")
	_, errs := m.berth(fault.InvalidArgument.Exit(), "provison")
	m.says(errs, "provision")
}

// A cluster that is not there, and none at all.
func TestUnreachable(t *testing.T) {
	m := newMachine(t)
	_, errs := m.berth(fault.InvalidArgument.Exit(), "status")
	m.says(errs, "error: no cluster is configured", "(INVALID_ARGUMENT)")
	m.cluster()
	_, errs = m.berth(fault.Unavailable.Exit(), "status")
	m.says(errs, "error: the cluster cannot be reached: dial tcp 127.0.0.1:1: ", "efused", "(tried 2 times)",
		"(UNAVAILABLE)")
	out, _ := m.berth(fault.Unavailable.Exit(), "status", "--output", "json")
	m.says(out, `"code": "UNAVAILABLE"`)
	_, errs = m.berth(fault.InvalidArgument.Exit(), "--kubeconfig", filepath.Join("not", "there"), "status")
	m.says(errs, filepath.Join("not", "there"))
}

// A file of blueprints means the same with both ends of lines, and what is wrong in it is found at the same place.
func TestBlueprints(t *testing.T) {
	m := newMachine(t)
	show := func(text string) string {
		m.set("BERTH_BLUEPRINTS", filepath.Dir(m.write("blueprints/dev.yaml", text)))
		out, _ := m.berth(0, "blueprint", "show", "dev", "--output", "json")
		return out
	}
	one, other := show(blueprints), show(crlf(blueprints))
	m.says(one, `one\ntwo`)
	if one != other {
		t.Errorf("of a file of Windows:\n%s\nof another:\n%s", other, one)
	}
	right := m.write("right.yaml", crlf(blueprints))
	m.berth(0, "blueprint", "validate", right)
	wrong := m.write("a b/wrong.yaml", crlf(strings.Replace(blueprints, "image:", "imge:", 1)))
	_, errs := m.berth(fault.InvalidArgument.Exit(), "blueprint", "validate", right, wrong)
	m.says(errs, wrong+":4:5: unknown field \"imge\": did you mean image?", "imge: ghcr.io/example/dev:1.4\n")
}

// The configuration is in the home directory, and paths in it start from where it is.
func TestConfiguration(t *testing.T) {
	m := newMachine(t)
	m.dir, m.home = m.home, m.dir // the home directory has the blank
	m.set("HOME", m.home)
	m.set("USERPROFILE", m.home)
	dir := filepath.Join(m.home, ".config", "berth")
	for name, text := range map[string]string{
		"config.yaml":           "blueprints: some/where\ndefaultBlueprint: dev\n",
		"some/where/dev.yaml":   blueprints,
		"some/where/other.yaml": strings.Replace(blueprints, "name: dev", "name: other", 1),
	} {
		at := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(crlf(text)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, _ := m.berth(0, "blueprint", "list")
	m.says(out, "dev", "other")
	config := m.write("config.yaml", crlf("blueprints: nowhere\nblueprint: x\n"))
	m.set("BERTH_CONFIG", config)
	_, errs := m.berth(fault.InvalidArgument.Exit(), "blueprint", "list")
	m.says(errs, config+":2:1: ")
}

// The configuration of ssh is made, found unchanged, and removed; the user's own lines keep their ends.
func TestSSHConfig(t *testing.T) {
	m := newMachine(t)
	m.cluster()
	own := filepath.Join(m.home, ".config", "berth", "ssh")
	out, _ := m.berth(0, "ssh", "config", "--print")
	m.says(out, "Host *.berth\n", "ssh proxy ", "--context=x %n\n",
		`UserKnownHostsFile "`+filepath.ToSlash(filepath.Join(own, "known_hosts"))+`"`)
	user := filepath.Join(m.home, ".ssh", "config")
	const mine = "Host old\r\n  User me\r\n"
	if err := os.Mkdir(filepath.Dir(user), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(user, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	m.berth(0, "ssh", "config", "--yes")
	now := m.read(user)
	if !strings.HasSuffix(now, mine) || !strings.Contains(now, "Include ") || strings.Contains(now, `\`) {
		t.Errorf("the user's file:\n%q", now)
	}
	m.says(m.read(filepath.Join(own, "config")), strings.TrimPrefix(out, "# "))
	m.says(m.read(filepath.Join(own, "known_hosts")), "berth ssh-ed25519 ")
	m.berth(0, "ssh", "config", "--yes")
	if again := m.read(user); again != now {
		t.Errorf("a second run changes the user's file:\n%q\nit was\n%q", again, now)
	}
	m.berth(0, "ssh", "config", "--remove", "--yes")
	if left := m.read(user); left != mine {
		t.Errorf("what is left is %q, want %q", left, mine)
	}
}

// A bundle is the same on every system, to its digest, whatever divides the words of a path there.
func TestBundles(t *testing.T) {
	m := newMachine(t)
	m.write("shop/kustomization.yaml", "namePrefix: dev-\nresources: [base]\n")
	m.write("shop/base/kustomization.yaml", "resources: [map.yaml]\n")
	m.write("shop/base/map.yaml", crlf("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: one\ndata:\n  a: b\n"))
	m.write("chart/Chart.yaml", crlf("apiVersion: v2\nname: c\nversion: 1.0.0\n"))
	m.write("chart/values.yaml", crlf("text: |\n  one\n  two\n"))
	m.write("chart/templates/map.yaml", "apiVersion: v1\nkind: ConfigMap\n"+
		"metadata:\n  name: two\ndata:\n  a: {{ .Values.text | quote }}\n")
	m.write("chart/files/a.txt", "text")
	for _, path := range []string{"shop", filepath.Join(".", "shop"), filepath.Join(m.dir, "shop")} {
		out, _ := m.berth(0, "bundle", "template", path)
		m.says(out, "name: dev-one\n")
	}
	out, _ := m.berth(0, "bundle", "template", "chart")
	m.says(out, "name: two\n", `one\ntwo\n`)
	unpacked := filepath.Join(m.dir, "un packed")
	out, _ = m.berth(0, "bundle", "unpack", filepath.Join(".", "shop"), unpacked)
	m.says(out, unpacked, "Digest:       sha256:")
	if text := m.read(filepath.Join(unpacked, "base", "kustomization.yaml")); text != "resources: [map.yaml]\n" {
		t.Errorf("unpacked was %q", text)
	}
	_, errs := m.berth(fault.NotFound.Exit(), "bundle", "template", filepath.Join("not", "there"))
	m.says(errs, filepath.Join("not", "there"))
}

// A path with a drive names no workspace.
func TestPathsOfCopies(t *testing.T) {
	m := newMachine(t)
	m.cluster()
	file := filepath.Join(m.dir, m.write("a b/note", "text"))
	for _, path := range []string{file, filepath.ToSlash(file)} {
		_, errs := m.berth(fault.Unavailable.Exit(), "cp", path, "alice:/tmp/note")
		m.says(errs, "the cluster cannot be reached")
	}
}
