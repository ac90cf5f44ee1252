//go:build !windows

package commands_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
)

// asking are command lines of every command that asks the cluster.
func asking(t *testing.T) []string {
	t.Helper()
	lines := []string{
		"status", "status --watch", "status alice --watch", "status alice --history", "status -o json",
		"logs alice --follow", "jobs", "resolve alice", "diagnose pod/x",
		"delete alice --timeout 1m", "delete alice --wait", "delete --owner alice --yes",
		"delete alice --dry-run=client",
		"provision", "provision alice", "provision alice --timeout 1m", "provision alice -o json",
		"provision alice --dry-run=client", "provision -f users",
	}
	for _, args := range named(t, "alice") {
		lines = append(lines, strings.Join(args, " "))
	}
	return lines
}

// interrupting is standard error of a user who presses Ctrl-C when they read this.
type interrupting struct {
	at string

	mu   sync.Mutex
	text bytes.Buffer
	done bool
}

func (i *interrupting) Write(text []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.text.Write(text)
	if !i.done && strings.Contains(i.text.String(), i.at) {
		i.done = true
		_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
	}
	return len(text), nil
}

// hanging are the ways in which something can hang, and what is said of it.
func hanging() map[string]struct {
	says  string
	setUp func(*testing.T)
} {
	silent := func(t *testing.T) string {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
		return listener.Addr().String() // connections are accepted by the kernel, and nobody reads
	}
	return map[string]struct {
		says  string
		setUp func(*testing.T)
	}{
		"a credential plugin": {
			"waiting for the credential plugin /bin/sh (user me of the kubeconfig)\n",
			func(t *testing.T) { withPlugin(t, "sleep 1000") },
		},
		"an API server": {
			"waiting for the API server http://127.0.0.1:",
			func(t *testing.T) { cmdtest.Cluster(t, "http://"+silent(t)) },
		},
		"a handshake": {
			"waiting for the API server https://127.0.0.1:",
			func(t *testing.T) { cmdtest.Cluster(t, "https://"+silent(t)) },
		},
		"reading the kubeconfig": {
			"waiting for the kubeconfig to be read\n",
			func(t *testing.T) { t.Setenv("KUBECONFIG", pipe(t)) },
		},
	}
}

// withPlugin makes this script the credential plugin.
func withPlugin(t *testing.T, script string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: x, cluster: {server: "https://127.0.0.1:1"}}],
users: [{name: me, user: {exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never,
  command: /bin/sh, args: [-c, %q]}}}],
contexts: [{name: x, context: {cluster: x, user: me, namespace: team}}]}`, script)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", path)
}

// pipe is a file that nobody writes to, so that opening it hangs.
func pipe(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipe.yaml")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // who is left behind reads its end
		if f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
			_ = f.Close()
		}
	})
	return path
}

// The user is told after a second what is waited for, and the first Ctrl-C ends every
// command then, whatever hangs.
func TestInterruptWhatHangs(t *testing.T) {
	cmdtest.Offline(t)
	t.Chdir(t.TempDir())
	if err := os.WriteFile("users", []byte("alice\nbob\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range hanging() {
		lines := asking(t)
		if testing.Short() || name != "a credential plugin" { // each takes more than a second
			lines = []string{"status", "exec alice -- true", "jobs", "provision alice"}
		}
		for _, line := range lines {
			t.Run(name+"/"+line, func(t *testing.T) {
				c.setUp(t)
				stderr := &interrupting{at: c.says}
				begin := time.Now()
				status, stdout, _ := cmdtest.RunInto(t, nil, stderr, strings.Fields(line)...)
				want := 130
				if took := time.Since(begin); status != want || took < time.Second || took > 20*time.Second ||
					strings.Contains(stdout, "waiting") {
					t.Errorf("status %d after %s\n%s\n%s", status, took, stdout, stderr.text.String())
				}
			})
		}
	}
}

// --timeout counts from the first instant on.
func TestTimeoutOfWhatHangs(t *testing.T) {
	cmdtest.Offline(t)
	for name, c := range hanging() {
		for _, line := range []string{
			"provision alice --timeout 1500ms", "delete alice --timeout 1500ms",
			"provision --timeout 1500ms",
		} {
			t.Run(name+"/"+line, func(t *testing.T) {
				c.setUp(t)
				begin := time.Now()
				status, _, stderr := cmdtest.Run(t, "", strings.Fields(line)...)
				if took := time.Since(begin); status != 5 || took > 15*time.Second ||
					!strings.Contains(stderr, c.says) {
					t.Errorf("status %d after %s\n%s", status, took, stderr)
				}
			})
		}
	}
}

// A directory of blueprints may hang as well, and a file of users.
func TestInterruptReading(t *testing.T) {
	cmdtest.Unreachable(t)
	path := pipe(t)
	for line, says := range map[string]string{
		"blueprint list --blueprints " + filepath.Dir(path): "waiting for the blueprints in " + filepath.Dir(path) +
			" to be read\n",
	} {
		stderr := &interrupting{at: says}
		if status, _, _ := cmdtest.RunInto(t, nil, stderr, strings.Fields(line)...); status != 130 {
			t.Errorf("berth %s: status %d\n%s", line, status, stderr.text.String())
		}
	}
	for _, line := range []string{"provision --timeout 100ms -f " + path} {
		if status, _, stderr := cmdtest.Run(t, "", strings.Fields(line)...); status != 5 {
			t.Errorf("berth %s: status %d\n%s", line, status, stderr)
		}
	}
}

// A plugin that hangs does not outlive the command: it would keep standard error open.
func TestPluginEndsWithTheCommand(t *testing.T) {
	cmdtest.Offline(t)
	file := filepath.Join(t.TempDir(), "pid")
	withPlugin(t, "echo $$ > "+file+"; sleep 1000; true")
	if status, _, stderr := cmdtest.Run(t, "", "provision", "alice", "--timeout", "1s"); status != 5 {
		t.Fatalf("status %d\n%s", status, stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the plugin still runs")
		}
	}
}

// A plugin that fails is not the cluster's fault, and is run once.
func TestPluginFails(t *testing.T) {
	cmdtest.Offline(t)
	file := filepath.Join(t.TempDir(), "runs")
	withPlugin(t, "echo run >> "+file+"; exit 3")
	status, _, stderr := cmdtest.Run(t, "", "status")
	if status != 4 || !strings.Contains(stderr, "executable /bin/sh failed with exit code 3") {
		t.Errorf("status %d\n%s", status, stderr)
	}
	if text, _ := os.ReadFile(file); string(text) != "run\n" {
		t.Errorf("it was run:\n%s", text)
	}
}
