package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/schematest"
)

// unreachable is a kubeconfig whose cluster does not answer.
func unreachable(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: x, cluster: {server: "http://127.0.0.1:1"}}], contexts: [{name: x, context: {cluster: x, namespace: team}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Every error has its status, its code on stderr, and a hint; with --output
// json it is the one document on stdout.
func TestErrors(t *testing.T) {
	t.Setenv("KUBECONFIG", unreachable(t))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, test := range []struct {
		args   string
		status int
		says   string
	}{
		{"provsion", 2, "did you mean `berth provision`?"},
		{"xyzzy", 2, "berth --help"},
		{"version x", 2, "no arguments are expected"},
		{"provision alice bob", 2, "one user string at most"},
		{"provision --colour", 2, "--colour"},
		{"provision --output xml", 2, `"xml" is none of text, json`},
		{"provision --output go-template={{", 2, "go-template"},
		{"provision --timeout -1s", 2, "negative"},
		{"provision al!ce", 2, "character 3"},
		{"provision alice~repo=a/b", 8, "cannot be reached"},
		{"provision alice --set cpu", 2, "--set cpu: a field and its value are needed"},
		{"provision alice", 8, "cannot be reached"},
		{"provision", 8, "cannot be reached"},
		{"status", 8, "cannot be reached"},
		{"status alice", 8, "cannot be reached"},
		{"delete alice", 8, "cannot be reached"},
		{"delete", 2, "one workspace is needed"},
	} {
		args := strings.Fields(test.args)
		status, stdout, stderr := run(t, args...)
		if status != test.status || !strings.Contains(stderr, test.says) || !strings.Contains(stderr, "hint:") || stdout != "" {
			t.Errorf("berth %s: status %d, want %d with %q\nstdout: %s\nstderr: %s", test.args, status, test.status, test.says, stdout, stderr)
		}
		if strings.Contains(test.args, "--output") {
			continue
		}
		status, stdout, _ = run(t, append(args, "--output", "json")...)
		if status != test.status {
			t.Errorf("berth %s --output json: status %d, want %d", test.args, status, test.status)
		}
		schematest.Validate(t, []byte(stdout))
	}
}

// exec's own failures are not taken for those of the command that it runs.
func TestExecFailsWith125(t *testing.T) {
	t.Setenv("KUBECONFIG", unreachable(t))
	for _, args := range []string{"exec alice", "exec", "exec alice bob", "exec --colour", "exec al!ce -- true"} {
		if status, _, stderr := run(t, strings.Fields(args)...); status != execFailed || !strings.Contains(stderr, "error:") {
			t.Errorf("berth %s: status %d, want %d\n%s", args, status, execFailed, stderr)
		}
	}
}

func TestNoKubeconfig(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	if status, _, stderr := run(t, "status"); status != 2 || !strings.Contains(stderr, "no cluster is configured") {
		t.Errorf("status %d\n%s", status, stderr)
	}
}

// Help needs neither cluster nor configuration, and goes to stdout.
func TestHelp(t *testing.T) {
	t.Setenv("KUBECONFIG", "/does/not/exist")
	for _, args := range []string{"", "--help", "help", "provision --help", "help exit-codes", "help user-strings", "help environment", "--version", "version"} {
		status, stdout, stderr := run(t, strings.Fields(args)...)
		if status != 0 || stdout == "" || stderr != "" {
			t.Errorf("berth %s: status %d\nstdout: %s\nstderr: %s", args, status, stdout, stderr)
		}
	}
}
