package commands_test

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// What Tab offers comes from the kubeconfig, the cluster and the configured blueprints.
func TestCompletion(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	for _, c := range []struct{ args, want, not string }{
		{"status --context ", "x\n", ""},
		{"status --namespace ", "team\n", ""},
		{"status -n ", "team\n", ""},
		{"provision alice~", "alice~default\n", "alice~pod"},
		{"provision alice", ":4", "alice~"},
		{"provision alice~repo=", ":4", "alice~"},
		{"provision alice bob~", ":4", "bob~"},
		{"provision alice --ignore-reason ", "CrashLoop\n", ""},
	} {
		args := append([]string{"__complete"}, strings.Split(c.args, " ")...)
		_, stdout, stderr := cmdtest.Run(t, "", args...)
		if !strings.Contains(stdout, c.want) || c.not != "" && strings.Contains(stdout, c.not) {
			t.Errorf("berth %s: Tab offers %q, want %q\n%s", c.args, stdout, c.want, stderr)
		}
	}
}
