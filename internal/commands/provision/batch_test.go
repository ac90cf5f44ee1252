package provision_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/schematest"
)

// All errors in a batch are reported, before any request to the cluster.
func TestBatchErrors(t *testing.T) {
	cmdtest.Unreachable(t)
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, 1<<20+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args, stdin string
		status      int
		says        []string
	}{
		{
			"-f -", "alice\nal!ce\nbob~pod=x\nalice\n", 2,
			[]string{
				"standard input: 3 of 4 user strings are invalid", "line 2: ", "line 3: ", "line 4: ",
				"on line 1",
			},
		},
		{"-f -", "", 2, []string{"contains no user strings"}},
		{"-f /does/not/exist", "", 2, []string{"/does/not/exist"}},
		{"-f " + filepath.Dir(large), "", 2, []string{"is a directory"}},
		{"-f " + large, "", 2, []string{"larger than 1 MiB"}},
		{"-f - alice", "bob", 2, []string{`--filename and the user string "alice" are mutually exclusive`}},
		{"-f - --parallel 0", "bob", 2, []string{"--parallel must be at least 1, got 0"}},
		{"--parallel 2 alice", "", 2, []string{"--parallel requires --filename"}},
		{"--filename=", "", 2, []string{"--filename must not be empty"}},
		{"-f - --timeout -1s", "bob", 2, []string{"--timeout must not be negative, got -1s"}},
		{"-f - --dry-run=client", "bob", 2, []string{"--dry-run accepts only one workspace"}},
		{"-f -", "bob", 3, []string{"0 of 1 running", "cannot be reached"}},
	} {
		args := append([]string{"provision"}, strings.Fields(test.args)...)
		status, stdout, stderr := cmdtest.Run(t, test.stdin, args...)
		if status != test.status || stdout != "" {
			t.Errorf("berth provision %s: status %d, want %d\nstdout: %s\nstderr: %s", test.args, status, test.status,
				stdout, stderr)
		}
		for _, want := range test.says {
			if !strings.Contains(stderr, want) {
				t.Errorf("berth provision %s: %q is not in\n%s", test.args, want, stderr)
			}
		}
		status, stdout, _ = cmdtest.Run(t, test.stdin, append(args, "-o", "json")...)
		schematest.Validate(t, []byte(stdout))
		if status != test.status {
			t.Errorf("berth provision %s -o json: status %d, want %d", test.args, status, test.status)
		}
	}
}

// Every one of many has its own error; the stream ends with the one summary.
func TestBatchStreamOfFailures(t *testing.T) {
	cmdtest.Unreachable(t)
	status, stdout, _ := cmdtest.Run(t, "alice\nbob\ncarol\n", "provision", "-f", "-", "--parallel", "2", "-o", "jsonl")
	if status != 3 {
		t.Errorf("status %d, want 3", status)
	}
	schematest.ValidateLines(t, []byte(stdout))
	if n := strings.Count(stdout, `"outcome":`); n != 3 {
		t.Errorf("%d outcomes, want 3:\n%s", n, stdout)
	}
}

// Of several, one that runs already has not failed: it ends as it does alone.
func TestBatchOfWhatRunsAlready(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	cmdtest.Must(t, 0, "provision", "alice")
	cmdtest.Must(t, 6, "provision", "alice")
	for _, c := range []struct {
		users  string
		status int
		says   string
	}{
		{"alice\nbob\n", 6, "2 running in"},
		{"alice\nbob\n", 6, "2 already"},
		{"alice\nal!ce\n", 2, "invalid"},
	} {
		status, _, stderr := cmdtest.Run(t, c.users, "provision", "-f", "-")
		if status != c.status || !strings.Contains(stderr, c.says) || strings.Contains(stderr, "failed") {
			t.Errorf("%q: status %d, want %d and %q\n%s", c.users, status, c.status, c.says, stderr)
		}
	}
	cmdtest.Must(t, 0, "delete", "bob")
	_, stdout, _ := cmdtest.Run(t, "alice\nbob\n", "provision", "-f", "-", "-o", "json")
	schematest.Validate(t, []byte(stdout))
	if !strings.Contains(stdout, `"alreadyRunning": 1`) || !strings.Contains(stdout, `"exitStatus": 6`) {
		t.Errorf("the document is\n%s", stdout)
	}
	if status, _, stderr := cmdtest.Run(t, "alice\nbob\n", "provision", "-f", "-", "--if-not-exists"); status != 0 {
		t.Errorf("with --if-not-exists: status %d\n%s", status, stderr)
	}
}
