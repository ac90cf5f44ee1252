package commands_test

import (
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
)

// Anyone who types what another tool calls it, or half of it, is told what it is called here.
func TestSuggestions(t *testing.T) {
	cmdtest.Offline(t)
	for typed, want := range map[string]string{
		"ls": "berth status", "list": "berth status", "get alice~dev": "berth status alice~dev",
		"rm alice bob": "berth delete alice bob",
		"up":           "berth provision", "create alice": "berth provision alice", "enter alice": "berth exec alice",
		"shell": "berth exec", "bash alice": "berth exec alice", "kill alice": "berth stop alice",
		"describe x": "berth diagnose x", "log": "berth logs", "upgrade": "berth update", "stat": "berth status",
		"prvision":     "berth provision",
		"blueprint ls": "berth blueprint list", "bundle rm shop": "berth bundle uninstall shop",
		"help statu": "berth help status", "help bundle ls": "berth help bundle list",
		"help exit-code": "berth help exit-codes",
	} {
		_, stderr := cmdtest.Must(t, 2, strings.Fields(typed)...)
		if !strings.Contains(stderr, "did you mean `"+want+"`?") {
			t.Errorf("berth %s: %s", typed, stderr)
		}
	}
	for typed, want := range map[string]string{
		"nosuch": `unknown command "nosuch"`, "xx": `unknown command "xx"`, "config": `unknown command "config"`,
		"login": `unknown command "login"`, "serve nosuch": `unknown command "nosuch"`,
		"completion tcsh": `unknown command "tcsh"`,
		"help nosuch":     `unknown help topic "nosuch"`, "help status nosuch": `berth status has no topic "nosuch"`,
	} {
		_, stderr := cmdtest.Must(t, 2, strings.Fields(typed)...)
		if !strings.Contains(stderr, want) || strings.Contains(stderr, "did you mean") {
			t.Errorf("berth %s: %s", typed, stderr)
		}
	}
	for _, known := range []string{
		"help", "help status", "help bundle list", "help output", "bundle", "serve",
		"completion", "completion bash",
	} {
		cmdtest.Must(t, 0, strings.Fields(known)...)
	}
}
