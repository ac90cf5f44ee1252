package provision_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	command "github.com/berthdev/berth/internal/commands/provision"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *command.Options) {
		o.IO, o.Provisioner, o.Recorders, o.States, o.Workspaces = terminal.Streams{}, nil, nil, nil, nil
		o.Ended = nil
	}
	cmdtest.Options(t, command.NewCmd, forget, map[string]cmdtest.Case[command.Options]{
		"the caller's own":  {Want: command.Options{OnFailure: provision.KeepOnFailure, Parallel: 4}},
		"an empty argument": {Args: "'' x", Err: "accepts at most one user string, got 2"},
		"one workspace": {
			Args: "alice~dev --timeout 90s --timing --if-not-exists --wait --no-wait --create-namespace --force " +
				"--on-failure DELETE --image a:1 --set cpu=2 --set x=y --context c",
			Want: command.Options{
				UserString: "alice~dev", Timeout: 90 * time.Second, Timed: true, Timing: true, IfNotExists: true,
				Wait:            true,
				NoWait:          true,
				CreateNamespace: true, Force: true,
				OnFailure: provision.DeleteOnFailure, Set: cmdutil.SetFlags{
					Image:  "a:1",
					Fields: []string{"cpu=2", "x=y"},
				},
				Parallel: 4, Flags: []string{"--context c"},
			},
		},
		"a file": {
			Args: "-f team.txt --parallel 8",
			Want: command.Options{FromFile: true, File: "team.txt", Parallel: 8, OnFailure: provision.KeepOnFailure},
		},
		"a file and a user":     {Args: "-f team.txt alice", Err: "mutually exclusive"},
		"parallel without file": {Args: "--parallel 2 alice", Err: "--parallel requires --filename"},
		"a dry run of a file":   {Args: "-f - --dry-run=client", Err: "--dry-run accepts only one workspace"},
		"enter it": {
			Args: "alice --exec",
			Want: command.Options{UserString: "alice", Exec: true, Parallel: 4, OnFailure: provision.KeepOnFailure},
		},
		"enter several":      {Args: "-f team.txt --exec", Err: "--exec and --filename are mutually exclusive"},
		"enter, do not wait": {Args: "alice --exec --no-wait", Err: "--exec and --no-wait are mutually exclusive"},
		"enter what is not made": {
			Args: "alice --exec --dry-run=client",
			Err:  "--exec and --dry-run are mutually exclusive",
		},
		"a document and a shell": {Args: "alice --exec -o json", Err: "--exec and --output are mutually exclusive"},
		"an unknown ending":      {Args: "alice --on-failure keep,delete", Err: "must be one of: keep, delete"},
	})
}
