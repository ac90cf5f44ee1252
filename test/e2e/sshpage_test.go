//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"github.com/berthdev/berth/internal/pagetest"
	"github.com/berthdev/berth/internal/rbac"
)

// Anyone who does what docs/ssh.md says, sees what it says; and ports lead where they should.
func TestSSHPage(t *testing.T) {
	t.Parallel()
	w := newBareWorld(t)
	steps, err := pagetest.Steps(os.DirFS("../../docs"), "ssh.md")
	if err != nil {
		t.Fatal(err)
	}
	a := w.sshUser()
	a.must("berth provision alice~dev --blueprints blueprints")
	const before = "Host other\n  User me\n"
	w.writeAll(a.home, map[string]string{".ssh/config": before})
	for _, s := range steps {
		out, err := a.run(s.Command).CombinedOutput()
		out = slowAnswers.ReplaceAll(out, nil)
		if err != nil || s.Shows != "" && !pagetest.Matches(s.Shows, string(out)) {
			t.Fatalf("docs/ssh.md:%d: %s: %v\nthe page shows:\n%s\nit printed:\n%s", s.Line, s.Command, err, s.Shows,
				out)
		}
	}
	if left, err := os.ReadFile(filepath.Join(a.home, ".ssh", "config")); err != nil || string(left) != before {
		t.Errorf("~/.ssh/config is left as %q, %v", left, err)
	}
	a.must("berth ssh alice~dev 'echo from the port | nc -l -p 7070 >/dev/null' & for i in $(seq 100); do " +
		"berth ssh alice~dev -W localhost:7070 </dev/null 2>/dev/null | grep 'from the port' && exit; sleep " +
		"0.2; done; exit 1")
}

// The Role of ssh is enough for it, and what is missing is said. The table of duties does not have it: what records
// requests there knows no SPDY.
func TestRoleOfSSH(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	role := rbac.Named("ssh")
	whole := w.as(w.role(role))
	r := whole.run(use{args: []string{"ssh", "alice~plain", "echo", "in"}}, nil, w.words())
	r.mustBe(w, 0)
	w.contains(r.stdout, "in")
	for _, a := range role.All() {
		if a.Resource != "pods/exec" || a.Verb != "create" {
			continue
		}
		less := w.as(grant{w.namespace, without(role, a)})
		r := less.run(use{args: []string{"ssh", "alice~plain", "echo", "in"}}, nil, w.words())
		if !w.isNeeded(a) {
			r.mustBe(w, 0)
			continue
		}
		r.mustBe(w, 125)
		w.contains(r.stderr, "pods/exec")
	}
}

// The Role of cp is enough for it, and what is missing is said.
func TestRoleOfCopies(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	role, args := rbac.Named("cp"), []string{"cp", "alice~plain:/etc/hostname", t.TempDir()}
	w.as(w.role(role)).must(0, args...)
	create := rbac.Access{Verb: "create", Resource: "pods/exec"}
	r := w.as(grant{w.namespace, without(role, create)}).run(use{args: args}, nil, w.words())
	if refused := r.status != 0 && strings.Contains(r.stderr, "pods/exec"); refused != w.isNeeded(create) {
		t.Errorf("status %d\n%s", r.status, r.stderr)
	}
}

// The Role of port-forward is enough for it.
func TestRoleOfForwarding(t *testing.T) {
	w := newWorld(t)
	w.must(0, "provision", "alice~plain")
	run := w.as(w.role(rbac.Named("port-forward"))).start("port-forward", "alice~plain", ":9000")
	run.waitFor("connected with pod")
	run.signal(os.Interrupt)
	if r := run.wait(); r.status != 130 {
		t.Errorf("status %d\n%s", r.status, r.stderr)
	}
}

// sshUser is somebody with a home of their own.
type sshUser struct {
	w         *world
	home      string
	variables []string
}

// sshUser makes one, with a blueprint dev. OpenSSH does not read $HOME, so that ssh and what starts it are told where
// the configuration is.
func (w *world) sshUser() sshUser {
	w.Helper()
	a := sshUser{w: w, home: w.TempDir()}
	config, err := clientcmd.LoadFromFile(w.admin)
	if err != nil {
		w.Fatal(err)
	}
	config.Contexts[config.CurrentContext].Namespace = w.namespace
	if err := clientcmd.WriteToFile(*config, filepath.Join(a.home, "kubeconfig")); err != nil {
		w.Fatal(err)
	}
	w.writeAll(a.home, map[string]string{
		"blueprints/dev.yaml": `blueprints: [{name: dev, template: base, image: ` +
			`"registry.example.com/berth/workspace:v1", ` +
			`resources: {cpu: 10m, memory: 32Mi}}]`,
	})
	for _, program := range []string{"ssh", "scp", "sftp"} {
		path, err := exec.LookPath(program)
		if err != nil {
			w.Fatal(err)
		}
		script := "#!/bin/sh\n[ \"$1\" = -F ] && exec " + path + " \"$@\"\nexec " + path +
			" -F \"$HOME/.ssh/config\" \"$@\"\n"
		w.writeAll(a.home, map[string]string{"bin/" + program: script})
		if err := os.Chmod(filepath.Join(a.home, "bin", program), 0o700); err != nil { //nolint:gosec // it is run
			w.Fatal(err)
		}
	}
	programs := []string{filepath.Join(a.home, "bin"), filepath.Dir(binary), os.Getenv("PATH")}
	a.variables = []string{
		"PATH=" + strings.Join(programs, string(filepath.ListSeparator)), "HOME=" + a.home,
		"KUBECONFIG=" + filepath.Join(a.home, "kubeconfig"), "LANG=C.UTF-8",
	}
	return a
}

func (a sshUser) run(command string) *exec.Cmd {
	cmd := exec.CommandContext(a.w.Context(), "bash", "-c", command)
	cmd.Dir, cmd.Env = a.home, a.variables
	return cmd
}

func (a sshUser) must(command string) string {
	a.w.Helper()
	out, err := a.run(command).CombinedOutput()
	if err != nil {
		a.w.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}
