package commands

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/schematest"
)

// What is wrong with a deletion is said before the cluster is asked, all of it.
func TestDeleteErrors(t *testing.T) {
	t.Setenv("KUBECONFIG", unreachable(t))
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, test := range []struct {
		args   string
		status int
		says   []string
	}{
		{"", 2, []string{"at least one workspace is needed, or --owner"}},
		{"alice al!ce bob~ id/UP", 2, []string{"3 of 4 arguments", `"al!ce"`, `"bob~"`, `"id/UP"`, "nothing has been done"}},
		{"--owner alice bob", 2, []string{`"bob" is one`}},
		{"--owner=", 2, []string{"--owner is empty"}},
		{"-A bob", 2, []string{"--all-namespaces is for --owner"}},
		{"--timeout -1s bob", 2, []string{"negative"}},
		{"--parallel 0 bob eve", 2, []string{"less than 1"}},
		{"--owner alice", 2, []string{"cannot be asked without a terminal", "--yes"}},
		{"--owner alice --yes", 8, []string{"cannot be reached"}},
		{"alice bob", 3, []string{"0 of 2 deleted", "cannot be reached", "berth delete alice bob --ignore-not-found"}},
	} {
		args := append([]string{"delete"}, strings.Fields(test.args)...)
		status, stdout, stderr := runWith(t, "", args...)
		if status != test.status || stdout != "" {
			t.Errorf("berth delete %s: status %d, want %d\nstdout: %s\nstderr: %s", test.args, status, test.status, stdout, stderr)
		}
		for _, want := range test.says {
			if !strings.Contains(stderr, want) {
				t.Errorf("berth delete %s: %q is not in\n%s", test.args, want, stderr)
			}
		}
		status, stdout, _ = runWith(t, "", append(args, "-o", "json")...)
		schematest.Validate(t, []byte(stdout))
		if status != test.status {
			t.Errorf("berth delete %s -o json: status %d, want %d", test.args, status, test.status)
		}
	}
}

// The exit status of several is that of a batch.
func TestSummarizeDeletions(t *testing.T) {
	gone := v1.DeletionItem{Deletion: &v1.Deletion{Gone: true}}
	failed := func(code fault.Code) v1.DeletionItem {
		return v1.DeletionItem{Error: &v1.Error{Code: string(code), ExitStatus: code.Exit()}}
	}
	for _, test := range []struct {
		items []v1.DeletionItem
		want  int
	}{
		{nil, 0},
		{[]v1.DeletionItem{gone, gone}, 0},
		{[]v1.DeletionItem{gone, failed(fault.NotFound)}, 3},
		{[]v1.DeletionItem{failed(fault.DeadlineExceeded)}, 3},
		{[]v1.DeletionItem{failed(fault.Interrupted), failed(fault.Conflict), gone}, 130},
	} {
		got := summarizeDeletions(test.items, 0, 0)
		if got.ExitStatus != test.want || got.Succeeded+got.Failed != len(test.items) {
			t.Errorf("%+v: %+v, want %d", test.items, got, test.want)
		}
	}
}
