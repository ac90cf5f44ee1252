package commands_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/commands"
)

// naming has a line of every command that takes a workspace which exists, by its verb. WORKSPACE in it is the
// workspace. Not in it are ssh and open: they run a program that runs this one, which is the test.
func naming() map[string]string {
	return map[string]string{
		"cp":           "cp WORKSPACE:x .",
		"delete":       "delete WORKSPACE",
		"diagnose":     "diagnose WORKSPACE",
		"exec":         "exec WORKSPACE -- true",
		"logs":         "logs WORKSPACE",
		"port-forward": "port-forward WORKSPACE 80",
		"restart":      "restart WORKSPACE",
		"start":        "start WORKSPACE",
		"status":       "status WORKSPACE",
		"stop":         "stop WORKSPACE",
		"update":       "update WORKSPACE --yes",
	}
}

// named are the lines of naming about one workspace, split, but for those of some verbs.
func named(t *testing.T, workspace string, but ...string) (lines map[string][]string) {
	t.Helper()
	lines = map[string][]string{}
	for verb, line := range naming() {
		lines[verb] = strings.Fields(strings.ReplaceAll(line, "WORKSPACE", workspace))
	}
	for _, verb := range but {
		if lines[verb] == nil {
			t.Errorf("naming has no berth %s to leave out", verb)
		}
		delete(lines, verb)
	}
	return lines
}

// What is said of every command that takes a workspace is tested with every one of them.
func TestEveryCommandOfWorkspaces(t *testing.T) {
	lines := naming()
	for _, command := range commands.Tree().Commands() {
		verb, args, _ := strings.Cut(command.Use, " ")
		if slices.Contains([]string{"provision", "resolve", "ssh", "open"}, verb) { // or it need not exist
			continue
		}
		takes := strings.Contains(args, "USERSTR") || strings.Contains(args, "SRC")
		switch _, tested := lines[verb]; {
		case takes && !tested:
			t.Errorf("berth %s takes a workspace: naming needs a line of it", command.Use)
		case !takes && tested:
			t.Errorf("berth %s takes no workspace", command.Use)
		}
		delete(lines, verb)
	}
	for verb := range lines {
		t.Errorf("there is no berth %s", verb)
	}
}
