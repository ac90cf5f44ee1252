package update_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	command "github.com/berthdev/berth/internal/commands/update"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *command.Options) { o.IO, o.Provisioner, o.Recorders = terminal.Streams{}, nil, nil }
	cmdtest.Options(t, command.NewCmd, forget, map[string]cmdtest.Case[command.Options]{
		"one": {Args: "alice~dev", Want: command.Options{UserString: "alice~dev"}},
		"all": {
			Args: "alice~dev --image a:1 --set cpu=2 -y --wait --no-wait --force --timing --timeout 2m " +
				"--dry-run=server --context c",
			Want: command.Options{
				UserString: "alice~dev", Set: cmdutil.SetFlags{Image: "a:1", Fields: []string{"cpu=2"}}, Yes: true,
				Wait:   true,
				NoWait: true, Force: true,
				Timing: true, Timeout: 2 * time.Minute, Timed: true, DryRun: apply.DryRunServer,
				Flags: []string{"--context c"},
			},
		},
		"back": {Args: "alice --rollback", Want: command.Options{UserString: "alice", Rollback: true}},
		"back to what": {
			Args: "alice --rollback --image a:1",
			Err:  "--rollback and --image or --set are mutually exclusive",
		},
		"none":               {Err: "user string"},
		"two":                {Args: "alice bob", Err: "user string"},
		"a negative timeout": {Args: "alice --timeout -1s", Err: "timeout"},
	})
}
