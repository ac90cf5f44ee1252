package resolve_test

import (
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/commands/resolve"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *resolve.Options) { o.IO, o.Provisioner = terminal.Streams{}, nil }
	cmdtest.Options(t, resolve.NewCmd, forget, map[string]cmdtest.Case[resolve.Options]{
		"a user string": {Args: "alice~dev", Want: resolve.Options{UserString: "alice~dev"}},
		"all flags": {
			Args: "alice --offline --image a:1 --set cpu=2 --set x=y --blueprints bp",
			Want: resolve.Options{
				UserString: "alice", Offline: true,
				Set: cmdutil.SetFlags{Image: "a:1", Fields: []string{"cpu=2", "x=y"}},
			},
		},
		"nothing": {Err: "requires one user string, got 0"},
		"two":     {Args: "alice bob", Err: "requires one user string, got 2"},
	})
}
