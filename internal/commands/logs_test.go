package commands

import (
	"strings"
	"testing"
)

// What can be known to be wrong is said before the cluster is asked.
func TestLogsFlags(t *testing.T) {
	nowhere(t)
	for _, tc := range []struct{ args, says string }{
		{"", "one workspace is needed"},
		{"alice --tail -5", "--tail -5 is negative"},
		{"alice --since -5s", "--since -5s is negative"},
		{"alice -c x --all-containers", "exclude each other"},
		{"alice -f --previous", "exclude each other"},
	} {
		_, stderr := mustRun(t, 2, append([]string{"logs"}, strings.Fields(tc.args)...)...)
		if !strings.Contains(stderr, tc.says) || !strings.Contains(stderr, "INVALID_ARGUMENT") {
			t.Errorf("logs %s: %s", tc.args, stderr)
		}
	}
}
