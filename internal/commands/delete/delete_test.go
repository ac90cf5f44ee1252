package delete_test

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/schematest"
)

// All errors in the arguments are reported, before any request to the cluster.
func TestDeleteErrors(t *testing.T) {
	cmdtest.Unreachable(t)
	for _, test := range []struct {
		args   string
		status int
		says   []string
	}{
		{"", 2, []string{"requires at least one workspace, or --owner"}},
		{"alice al!ce bob~ id/UP", 2, []string{
			"3 of 4 arguments are invalid", `"al!ce"`, `"bob~"`, `"id/UP"`,
			"nothing was deleted",
		}},
		{"--owner alice bob", 2, []string{`--owner and the workspace "bob" are mutually exclusive`}},
		{"--owner=", 2, []string{"--owner must not be empty"}},
		{"-A bob", 2, []string{"--all-namespaces requires --owner"}},
		{"--timeout -1s bob", 2, []string{"--timeout must not be negative, got -1s"}},
		{"--parallel 0 bob eve", 2, []string{"--parallel must be at least 1, got 0"}},
		{"--owner alice", 2, []string{"--yes is required", "without a terminal"}},
		{"--owner alice --yes", 8, []string{"cannot be reached"}},
		{"alice bob", 3, []string{"0 of 2 deleted", "cannot be reached", "berth delete alice bob --ignore-not-found"}},
	} {
		args := append([]string{"delete"}, strings.Fields(test.args)...)
		status, stdout, stderr := cmdtest.Run(t, "", args...)
		if status != test.status || stdout != "" {
			t.Errorf("berth delete %s: status %d, want %d\nstdout: %s\nstderr: %s", test.args, status, test.status,
				stdout, stderr)
		}
		for _, want := range test.says {
			if !strings.Contains(stderr, want) {
				t.Errorf("berth delete %s: %q is not in\n%s", test.args, want, stderr)
			}
		}
		status, stdout, _ = cmdtest.Run(t, "", append(args, "-o", "json")...)
		schematest.Validate(t, []byte(stdout))
		if status != test.status {
			t.Errorf("berth delete %s -o json: status %d, want %d", test.args, status, test.status)
		}
	}
}
