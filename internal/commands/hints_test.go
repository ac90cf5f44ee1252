package commands_test

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// A command that is proposed for a workspace works where the namespace was asked for.
func TestProposedCommandsHaveTheNamespace(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	for line, want := range map[string]string{
		"resolve alice~pod=ws1 --namespace shop":        "`berth status alice~pod=ws1 --namespace shop`",
		"resolve alice~pod=ws1+ns=lab --namespace shop": "`berth status alice~ns=lab+pod=ws1 --namespace lab`",
		"doctor --namespace shop --output json":         "`berth provision alice --namespace shop`",
	} {
		_, stdout, stderr := cmdtest.RunInto(t, nil, nil, strings.Fields(line)...)
		if text := strings.Join(strings.Fields(stdout), " "); !strings.Contains(text, want) {
			t.Errorf("%s: no %s in\n%s\n%s", line, want, stdout, stderr)
		}
	}
}
