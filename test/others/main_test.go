// Package others tests the program itself on systems where no cluster runs: what of it depends on the system, and no
// server. The tests run on that system, too: make test-others says how.
package others

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Env is the variable with the command that runs the program. Paths in it start from the directory of this package.
const Env = "BERTH_TEST_PROGRAM"

// machine is a user's machine: a directory where berth runs, and a home.
type machine struct {
	t         *testing.T
	dir, home string
	env       []string
	stdin     string
}

// newMachine makes one without a cluster and a configuration. Its directory has a blank in its name.
func newMachine(t *testing.T) *machine {
	t.Helper()
	if os.Getenv(Env) == "" {
		t.Skip("needs " + Env + ", the command that runs the program: make test-others")
	}
	m := &machine{t: t, dir: filepath.Join(t.TempDir(), "my files"), home: t.TempDir()}
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, "BERTH_") && !strings.HasPrefix(name, "XDG_") && name != "KUBECONFIG" {
			m.env = append(m.env, variable)
		}
	}
	m.env = append(m.env, "HOME="+m.home, "USERPROFILE="+m.home)
	return m
}

// set gives berth a variable.
func (m *machine) set(name, value string) { m.env = append(m.env, name+"="+value) }

// cluster makes the cluster one that is not there.
func (m *machine) cluster() {
	m.write("kubeconfig", `{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: x, cluster: {server: "http://127.0.0.1:1"}}],
contexts: [{name: x, context: {cluster: x, namespace: team}}]}`)
	m.set("KUBECONFIG", "kubeconfig")
}

// write makes a file of the directory, whose name has slashes, and returns its path with what this system has.
func (m *machine) write(name, text string) string {
	m.t.Helper()
	name = filepath.FromSlash(name)
	at := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
	return name
}

// read is what a file has; empty if it is not there.
func (m *machine) read(at string) string {
	m.t.Helper()
	text, err := os.ReadFile(at) //nolint:gosec // of the test
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		m.t.Fatal(err)
	}
	return string(text)
}

// berth runs the program, which has to end with this status. Nothing that it writes has colours or ends of lines of
// Windows: its output is a file.
func (m *machine) berth(status int, args ...string) (stdout, stderr string) {
	m.t.Helper()
	words := append(command(m.t), args...)
	ctx, cancel := context.WithCancel(m.t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the test's own
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = m.dir, m.env, strings.NewReader(m.stdin), &out, &errs
	err := cmd.Run()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		m.t.Fatal(err)
	}
	stdout, stderr = out.String(), errs.String()
	if got := cmd.ProcessState.ExitCode(); got != status {
		m.t.Fatalf("berth %s: exit status %d, want %d\n%s\n%s", strings.Join(args, " "), got, status, stdout, stderr)
	}
	for name, text := range map[string]string{"standard output": stdout, "standard error": stderr} {
		if strings.ContainsAny(text, "\x1b\r") {
			m.t.Errorf("berth %s: %s has control characters:\n%q", strings.Join(args, " "), name, text)
		}
	}
	return stdout, stderr
}

// command are the words that run the program, wherever it runs.
func command(t *testing.T) []string {
	t.Helper()
	words := strings.Fields(os.Getenv(Env))
	for i, word := range words {
		if _, err := os.Stat(word); err != nil || filepath.Base(word) == word {
			continue // a program on PATH
		}
		path, err := filepath.Abs(word)
		if err != nil {
			t.Fatal(err)
		}
		words[i] = path
	}
	return words
}

// says fails the test for each of the words that a text does not have.
func (m *machine) says(text string, words ...string) {
	m.t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			m.t.Errorf("it does not say %q:\n%s", word, text)
		}
	}
}
