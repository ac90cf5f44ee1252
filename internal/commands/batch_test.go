package commands

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/schematest"
)

// What is wrong with a batch is said before the cluster is asked, all of it.
func TestBatchErrors(t *testing.T) {
	t.Setenv("KUBECONFIG", unreachable(t))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	large := filepath.Join(t.TempDir(), "large")
	if err := os.WriteFile(large, make([]byte, batchLimit+1), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		args, stdin string
		status      int
		says        []string
	}{
		{"-f -", "alice\nal!ce\nbob~pod=x\nalice\n", 2, []string{"standard input: 3 of 4 user strings", "line 2: ", "line 3: ", "line 4: ", "on line 1"}},
		{"-f -", "", 2, []string{"names no workspace"}},
		{"-f /does/not/exist", "", 2, []string{"/does/not/exist"}},
		{"-f " + filepath.Dir(large), "", 2, []string{"is a directory"}},
		{"-f " + large, "", 2, []string{"larger than 1 MiB"}},
		{"-f - alice", "bob", 2, []string{`"alice" has to stand in the file`}},
		{"-f - --parallel 0", "bob", 2, []string{"less than 1"}},
		{"--parallel 2 alice", "", 2, []string{"--filename"}},
		{"--filename=", "", 2, []string{"--filename is empty"}},
		{"-f - --timeout -1s", "bob", 2, []string{"negative"}},
		{"-f - --dry-run=client", "bob", 2, []string{"--dry-run is for one workspace at a time"}},
		{"-f -", "bob", 3, []string{"0 of 1 running", "cannot be reached"}},
	} {
		args := append([]string{"provision"}, strings.Fields(test.args)...)
		status, stdout, stderr := runWith(t, test.stdin, args...)
		if status != test.status || stdout != "" {
			t.Errorf("berth provision %s: status %d, want %d\nstdout: %s\nstderr: %s", test.args, status, test.status, stdout, stderr)
		}
		for _, want := range test.says {
			if !strings.Contains(stderr, want) {
				t.Errorf("berth provision %s: %q is not in\n%s", test.args, want, stderr)
			}
		}
		status, stdout, _ = runWith(t, test.stdin, append(args, "-o", "json")...)
		schematest.Validate(t, []byte(stdout))
		if status != test.status {
			t.Errorf("berth provision %s -o json: status %d, want %d", test.args, status, test.status)
		}
	}
}

// Every one of many has its own error; the stream ends with the one summary.
func TestBatchStreamOfFailures(t *testing.T) {
	t.Setenv("KUBECONFIG", unreachable(t))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	status, stdout, _ := runWith(t, "alice\nbob\ncarol\n", "provision", "-f", "-", "--parallel", "2", "-o", "jsonl")
	if status != 3 {
		t.Errorf("status %d, want 3", status)
	}
	schematest.ValidateLines(t, []byte(stdout))
	if n := strings.Count(stdout, `"outcome":`); n != 3 {
		t.Errorf("%d outcomes, want 3:\n%s", n, stdout)
	}
}

// The exit status of a batch: any failure is 3; an interruption is its own.
func TestSummarize(t *testing.T) {
	ok := v1.ProvisionItem{Workspace: &v1.Workspace{}}
	failed := func(code fault.Code) v1.ProvisionItem {
		return v1.ProvisionItem{Error: &v1.Error{Code: string(code), ExitStatus: code.Exit()}}
	}
	for _, test := range []struct {
		items []v1.ProvisionItem
		want  int
	}{
		{nil, 0},
		{[]v1.ProvisionItem{ok, ok}, 0},
		{[]v1.ProvisionItem{ok, failed(fault.Failed)}, 3},
		{[]v1.ProvisionItem{failed(fault.DeadlineExceeded), failed(fault.DeadlineExceeded)}, 3},
		{[]v1.ProvisionItem{failed(fault.Unavailable), ok, failed(fault.AlreadyExists)}, 3},
		{[]v1.ProvisionItem{failed(fault.Interrupted), failed(fault.Failed)}, 130},
		{[]v1.ProvisionItem{failed(fault.Failed), failed(fault.Terminated), failed(fault.Failed), ok}, 143},
	} {
		s := summarize(test.items, time.Second, 7)
		good := len(slices.DeleteFunc(slices.Clone(test.items), func(i v1.ProvisionItem) bool { return i.Error != nil }))
		if s.ExitStatus != test.want || s.Succeeded != good || s.Succeeded+s.Failed != len(test.items) {
			t.Errorf("%+v: %+v, want status %d", test.items, s, test.want)
		}
	}
}
