package commands_test

import (
	"slices"
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

// inNamespace are the arguments of a line in a namespace.
func inNamespace(namespace, line string) []string {
	words := strings.Fields(line)
	return slices.Insert(words, 1, "--namespace", namespace)
}

// A namespace that does not exist is named by every command that finds nothing in it, and what it
// proposes is for the namespace that was asked for.
func TestNamespaceThatDoesNotExist(t *testing.T) {
	cmdtest.Offline(t)
	cmdtest.Cluster(t, kubetest.Start(t, nil).URL)
	lines := []string{"status", "jobs", "jobs stats", "reconcile --trust-records"}
	for _, args := range named(t, "alice", "update") { // which proposes to provision it
		lines = append(lines, strings.Join(args, " "))
	}
	for _, line := range lines {
		_, _, stderr := cmdtest.Run(t, "", inNamespace("nowhere", line)...)
		if text := strings.Join(strings.Fields(stderr), " "); !strings.Contains(text, "namespace nowhere") ||
			!strings.Contains(text, "does not exist") {
			t.Errorf("%s:\n%s", line, stderr)
		}
		_, _, stderr = cmdtest.Run(t, "", inNamespace("team", line)...)
		if strings.Contains(stderr, "does not exist") {
			t.Errorf("%s:\n%s", line, stderr)
		}
	}
	for line, want := range map[string]string{
		"logs alice -n team":                       "`berth status -n team` lists",
		"stop --owner alice -n team":               "`berth status -n team` lists",
		"stop --owner alice -A -n team":            "`berth status --all-namespaces` lists",
		"delete --owner alice -n team":             "`berth status --owner alice -n team` lists",
		"delete --owner alice --all-namespaces":    "`berth status --owner alice --all-namespaces` lists",
		"status alice --history -n team":           "`berth jobs -n team` lists",
		"update alice -n team --output=json --yes": "`berth provision alice -n team`",
	} {
		_, stdout, stderr := cmdtest.Run(t, "", strings.Fields(line)...)
		if text := strings.Join(strings.Fields(stdout+stderr), " "); !strings.Contains(text, want) {
			t.Errorf("%s: no %s in\n%s", line, want, text)
		}
	}
}
