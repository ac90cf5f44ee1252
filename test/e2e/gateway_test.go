//go:build e2e

package e2e

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestGateway are the tests of the gateway as `berth serve manifests` prints it, reached from
// outside of the cluster by users who have no kubeconfig.
func TestGateway(t *testing.T) {
	parallel(t)
	g := newGateway(t)
	for _, test := range []struct {
		name string
		run  func(*gatewayWorld)
	}{
		{"commands", (*gatewayWorld).testCommands},
		{"terminal", (*gatewayWorld).testTerminal},
		{"copy", (*gatewayWorld).testCopy},
		{"ssh", (*gatewayWorld).testSSH},
		{"client certificate", (*gatewayWorld).testClientCertificate},
		{"refusals", (*gatewayWorld).testRefusals},
		{"many endings", (*gatewayWorld).testManyEndings},
		{"nothing is left", (*gatewayWorld).testNothingIsLeft},
		{"another certificate", (*gatewayWorld).testRotation},
		{"the pod is replaced", (*gatewayWorld).testReplaced},
		{"revoked", (*gatewayWorld).testRevoked},
	} {
		t.Run(test.name, func(t *testing.T) {
			at := *g
			at.world = g.of(t)
			test.run(&at)
		})
	}
}

// protocols are the gateways of the configuration by what is spoken with them.
func protocols() map[string]string { return map[string]string{"WebSocket": "office", "SPDY": "old"} }

// Status, both outputs, the shell, and some MiB there and back, over each protocol.
func (g *gatewayWorld) testCommands() {
	r := g.through("alice~plain", "--", "sh", "-c", "echo out; echo err >&2; exit 7")
	if r.status != 7 || r.stdout != "out\n" || r.stderr != "err\n" {
		g.Errorf("%+v", r)
	}
	if r := g.through("alice~plain+user=dev", "--", "id", "-un"); r.status != 0 || r.stdout != "dev\n" {
		g.Errorf("as dev: %+v", r)
	}
	if r := g.through("alice~plain+user=nosuch", "--", "id", "-un"); r.status != 125 ||
		!strings.Contains(r.stderr, "as user nosuch: no such user in the container") {
		g.Errorf("as nosuch: %+v", r)
	}
	shell := g.user("exec", "--gateway", "office", "alice~plain")
	shell.Stdin = strings.NewReader("pwd; exit 3\n")
	if r := g.finish(shell); r.status != 3 || r.stdout != "/root\n" {
		g.Errorf("the shell: %+v", r)
	}
	g.contains(g.through("alice~plain", "--", "no-such-program").stderr, `"no-such-program" not found`,
		"INVALID_ARGUMENT")
	sent := make([]byte, 5<<20)
	_, _ = rand.Read(sent)
	for protocol, gateway := range protocols() {
		cat := g.user("exec", "--gateway", gateway, "-i", "alice~plain", "--", "sh", "-c", "cat; exit 5")
		cat.Stdin = bytes.NewReader(sent)
		if r := g.finish(cat); r.status != 5 || r.stdout != string(sent) {
			g.Errorf("%s: status %d, %d bytes come back, %s", protocol, r.status, len(r.stdout), r.stderr)
		}
	}
}

// A terminal has the size of this one, and keys do what they do.
func (g *gatewayWorld) testTerminal() {
	for protocol, gateway := range protocols() {
		at := g.sit(g.user("exec", "--gateway", gateway, "alice~plain"))
		at.sees("# ")
		at.types("stty size\n")
		at.sees("24 80")
		at.resizes(33, 101)
		at.types("until stty size | grep '33 101'; do sleep 0.1; done\n")
		at.sees("33 101\r\n")
		// A program says it, so that it is in the foreground by then.
		at.types("sh -c 'echo begin-$((1+1)); while :; do sleep 0.1; done'\n")
		at.sees("begin-2")
		at.types("\x03")
		at.sees("# ")
		at.types("echo " + protocol + "-$?\n")
		at.sees(protocol + "-130")
		at.types("exit 4\n")
		at.ends(4)
	}
}

// The user's own clients of SSH go through a gateway, too: sessions, files, and ports by a program in the image.
func (g *gatewayWorld) testSSH() {
	ssh := func(args ...string) result {
		return g.finish(g.user(append([]string{"ssh", "--gateway", "office", "alice~plain"}, args...)...))
	}
	r := ssh("echo out; echo err >&2; pwd; exit 7")
	if r.status != 7 || r.stdout != "out\n/root\n" || r.stderr != "err\n" {
		g.Errorf("%+v", r)
	}
	if r := ssh("-l", "dev", "id -un"); r.status != 0 || r.stdout != "dev\n" {
		g.Errorf("as dev: %+v", r)
	}
	at := g.sit(g.user("ssh", "--gateway", "office", "alice~plain"))
	at.sees("# ")
	at.types("stty size; exit 4\n")
	at.sees("24 80")
	at.ends(4)
	config := g.user("ssh", "config", "--gateway", "office", "--print")
	config.Env = append(config.Env, "HOME="+g.home)
	printed := g.finish(config)
	printed.mustBe(g.world, 0)
	g.contains(printed.stdout, " --gateway=office ")
	dir := g.TempDir()
	there := g.idOf("alice~plain") + "." + g.namespace + ".berth:by-scp"
	scp := exec.Command("scp", "-q", "-F", g.write(dir, "config", printed.stdout), g.write(dir, "sent", "by scp\n"),
		there)
	scp.Env = config.Env
	if out, err := scp.CombinedOutput(); err != nil {
		g.Errorf("scp: %v\n%s", err, out)
	}
	if r := ssh("cat by-scp"); r.stdout != "by scp\n" {
		g.Errorf("what scp has sent: %+v", r)
	}
	listener := g.user("ssh", "--gateway", "office", "alice~plain", "echo from the port | nc -l -p 7071 >/dev/null")
	if err := listener.Start(); err != nil {
		g.Fatal(err)
	}
	g.eventually("the port answers", func() bool { return ssh("-W", "localhost:7071").stdout == "from the port\n" })
	_ = listener.Wait()
	if r := g.finish(g.user("ssh", "--gateway", "office", "bob~plain", "true")); r.status != 125 ||
		!strings.Contains(r.stderr, "bob") {
		g.Errorf("a workspace that may not be entered: %+v", r)
	}
}

// Files go there and come back.
func (g *gatewayWorld) testCopy() {
	dir := g.TempDir()
	sent := make([]byte, 3<<20)
	_, _ = rand.Read(sent)
	if err := os.MkdirAll(filepath.Join(dir, "src", "sub"), 0o755); err != nil {
		g.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "src", "sub", "a b"), sent, 0o640); err != nil {
		g.Fatal(err)
	}
	there := g.finish(g.user("cp", "--gateway", "office", filepath.Join(dir, "src"), "alice~plain:", "-o", "json"))
	there.mustBe(g.world, 0)
	g.contains(there.stdout, `"destination": "/root/src"`, `"id": "`+g.idOf("alice~plain")+`"`, `"pod": ""`)
	g.finish(g.user("cp", "--gateway", "office", "alice~plain:src", filepath.Join(dir, "back"))).mustBe(g.world, 0)
	got, err := os.ReadFile(filepath.Join(dir, "back", "sub", "a b"))
	if err != nil || !bytes.Equal(got, sent) {
		g.Errorf("%d bytes come back, %v", len(got), err)
	}
	g.finish(g.user("cp", "--gateway", "office", "alice~plain:nothing", dir)).mustBe(g.world, 7)
}

// Anyone who has a client certificate of the authority is let in by it, as at the API server.
func (g *gatewayWorld) testClientCertificate() {
	admin := g.certified()
	admin.signal(syscall.SIGINT)
	admin.wait().mustBe(g.world, 130)
}

// through runs berth exec as the user.
func (g *gatewayWorld) through(args ...string) result {
	g.Helper()
	return g.finish(g.user(append([]string{"exec", "--gateway", "office"}, args...)...))
}
