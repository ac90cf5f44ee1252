package exec_test

import (
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/exec"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *exec.Options) { o.IO, o.Workspaces = terminal.Streams{}, nil }
	const usage = "requires one workspace, and the command to run in it after --"
	cmdtest.Options(t, exec.NewCmd, forget, map[string]cmdtest.Case[exec.Options]{
		"the shell":            {Args: "alice", Want: exec.Options{Workspace: "alice", Command: []string{}}},
		"a command":            {Args: "-i -t alice -- ls -l", Want: exec.Options{Workspace: "alice", Command: []string{"ls", "-l"}, Stdin: true, TTY: true}},
		"nothing":              {Err: usage},
		"no dashes":            {Args: "alice ls", Err: usage},
		"dashes in front":      {Args: "-- alice", Err: usage},
		"more before the dash": {Args: "alice bob -- ls", Err: usage},
	})
}
