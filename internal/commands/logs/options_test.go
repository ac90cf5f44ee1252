package logs_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/commands/logs"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *logs.Options) { o.IO, o.Pods, o.Policy = terminal.Streams{}, cmdutil.Pods{}, nil }
	cmdtest.Options(t, logs.NewCmd, forget, map[string]cmdtest.Case[logs.Options]{
		"all of the main container": {Args: "alice", Want: logs.Options{Workspace: "alice", Tail: -1}},
		"of another one": {
			Args: "alice -c side -f --tail 20 --since 5m --timestamps",
			Want: logs.Options{
				Workspace: "alice", Container: "side", Follow: true, Tail: 20, Since: 5 * time.Minute,
				Timestamps: true,
			},
		},
		"of all": {
			Args: "alice --all-containers -p",
			Want: logs.Options{Workspace: "alice", AllContainers: true, Previous: true, Tail: -1},
		},
		"nothing":           {Err: "requires one workspace, got 0"},
		"a negative number": {Args: "alice --tail -5", Err: "--tail must not be negative, got -5"},
		"a negative age":    {Args: "alice --since -5s", Err: "--since must not be negative, got -5s"},
		"one and all": {
			Args: "alice -c x --all-containers",
			Err:  "--container and --all-containers are mutually exclusive",
		},
		"to follow the end": {Args: "alice -f --previous", Err: "--follow and --previous are mutually exclusive"},
	})
}
