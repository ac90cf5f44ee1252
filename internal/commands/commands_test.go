package commands_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/schematest"
)

// Every error has its status, its code on stderr, and a hint; with --output
// json it is the one document on stdout.
func TestErrors(t *testing.T) {
	cmdtest.Unreachable(t)
	for _, test := range []struct {
		args   string
		status int
		says   string
	}{
		{"provsion", 2, "did you mean `berth provision`?"},
		{"xyzzy", 2, "berth --help"},
		{"version x", 2, `unexpected argument "x"`},
		{"provision alice bob", 2, "accepts at most one user string, got 2"},
		{"provision --colour", 2, "--colour"},
		{"provision --output xml", 2, `invalid argument "xml" for "-o, --output" flag: must be one of: text, json`},
		{"provision --output go-template={{", 2, "go-template"},
		{"provision --timeout -1s", 2, "--timeout must not be negative, got -1s"},
		{"provision al!ce", 2, "character 3"},
		{"provision alice~repo=a/b", 8, "cannot be reached"},
		{"provision alice --set cpu", 2, "--set cpu: must be FIELD=VALUE"},
		{"provision alice", 8, "cannot be reached"},
		{"provision", 8, "cannot be reached"},
		{"status", 8, "the cluster cannot be reached: dial tcp 127.0.0.1:1"},
		{"status alice", 8, "cannot be reached"},
		{"delete alice", 8, "cannot be reached"},
		{"delete", 2, "requires at least one workspace, or --owner"},
	} {
		args := strings.Fields(test.args)
		status, stdout, stderr := cmdtest.Run(t, "", args...)
		if status != test.status || !strings.Contains(stderr, test.says) || !strings.Contains(stderr, "hint:") ||
			strings.Contains(stderr, "http") || stdout != "" {
			t.Errorf("berth %s: status %d, want %d with %q\nstdout: %s\nstderr: %s", test.args, status, test.status,
				test.says, stdout, stderr)
		}
		if strings.Contains(test.args, "--output") {
			continue
		}
		status, stdout, _ = cmdtest.Run(t, "", append(args, "--output", "json")...)
		if status != test.status {
			t.Errorf("berth %s --output json: status %d, want %d", test.args, status, test.status)
		}
		schematest.Validate(t, []byte(stdout))
	}
}

// exec's own failures are not taken for those of the command that it runs.
func TestExecFailsWith125(t *testing.T) {
	cmdtest.Unreachable(t)
	for _, args := range []string{"exec alice", "exec", "exec alice bob", "exec --colour", "exec al!ce -- true"} {
		if status, _, stderr := cmdtest.Run(t, "", strings.Fields(args)...); status != 125 ||
			!strings.Contains(stderr, "error:") {
			t.Errorf("berth %s: status %d, want %d\n%s", args, status, 125, stderr)
		}
	}
}

func TestNoKubeconfig(t *testing.T) {
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	t.Setenv("HOME", t.TempDir())
	if status, _, stderr := cmdtest.Run(t, "", "status"); status != 2 ||
		!strings.Contains(stderr, "no cluster is configured") {
		t.Errorf("status %d\n%s", status, stderr)
	}
}

// Help needs neither cluster nor configuration, and goes to stdout.
func TestHelp(t *testing.T) {
	t.Setenv("KUBECONFIG", "/does/not/exist")
	for _, args := range []string{
		"", "--help", "help", "provision --help", "help exit-codes", "help user-strings",
		"help environment", "--version", "version",
	} {
		status, stdout, stderr := cmdtest.Run(t, "", strings.Fields(args)...)
		if status != 0 || stdout == "" || stderr != "" {
			t.Errorf("berth %s: status %d\nstdout: %s\nstderr: %s", args, status, stdout, stderr)
		}
	}
}

// A wrong identity provider does not block access to an existing workspace.
func TestWrongIdentityProvider(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"kind":"PodList","apiVersion":"v1","items":[{"metadata":{"name":"alice-1","namespace":"team",`+
				`"labels":{"k8shell.io/canonical-id":"alice-1"}}}]}`)
	}))
	t.Cleanup(server.Close)
	cmdtest.Offline(t)
	cmdtest.Cluster(t, server.URL)
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte("identity: {providers: [{kind: nonsense}]}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("BERTH_CONFIG", path)
	for _, command := range []string{"exec", "logs", "status", "delete"} {
		if _, stdout, stderr := cmdtest.Run(t, "", "__complete", command, ""); !strings.HasPrefix(stdout,
			"id/alice-1\t") {
			t.Errorf("%s completes %q %s", command, stdout, stderr)
		}
	}
	cmdtest.Cluster(t, "http://127.0.0.1:1")
	for args, want := range map[string]string{
		"logs alice":      "cannot be reached",
		"exec alice":      "cannot be reached",
		"provision alice": `kind "nonsense"`,
	} {
		if _, _, stderr := cmdtest.Run(t, "", strings.Fields(args)...); !strings.Contains(stderr, want) {
			t.Errorf("berth %s: %s", args, stderr)
		}
	}
}
