package batch_test

import (
	"context"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/commands/restart"
	"github.com/berthdev/berth/internal/commands/start"
	"github.com/berthdev/berth/internal/commands/stop"
	"github.com/berthdev/berth/internal/terminal"
)

// Commands that change the state of workspaces have the same command line.
func TestOptions(t *testing.T) {
	forget := func(o *batch.Options) { o.IO, o.Provisioner, o.Recorders = terminal.Streams{}, nil, nil }
	for name, command := range map[string]func(*cmdutil.Factory,
		func(context.Context, *batch.Options) error) *cobra.Command{
		"stop": stop.NewCmd, "start": start.NewCmd, "restart": restart.NewCmd,
	} {
		t.Run(name, func(t *testing.T) {
			cmdtest.Options(t, command, forget, map[string]cmdtest.Case[batch.Options]{
				"one": {Args: "alice~dev", Want: batch.Options{Selection: batch.Selection{
					Args:     []string{"alice~dev"},
					Parallel: 4,
				}}},
				"several": {Args: "alice bob --parallel 2 --no-wait --wait --timeout 2m", Want: batch.Options{
					Selection: batch.Selection{Args: []string{"alice", "bob"}, Parallel: 2}, NoWait: true, Wait: true,
					Timeout: 2 * time.Minute,
				}},
				"of an owner": {Args: "--owner alice -A --context c", Want: batch.Options{
					Selection: batch.Selection{
						Args: []string{}, ByOwner: true, Owner: "alice", AllNamespaces: true,
						Parallel: 4,
					},
					Flags: []string{"--context c"},
				}},
				"none":                     {Err: "requires at least one workspace, or --owner"},
				"an owner and a workspace": {Args: "alice --owner bob", Err: "mutually exclusive"},
				"everywhere, of nobody":    {Args: "alice -A", Err: "--all-namespaces requires --owner"},
				"an empty owner":           {Args: "--owner=", Err: "--owner must not be empty"},
				"no time":                  {Args: "alice --timeout -1s", Err: "--timeout"},
			})
		})
	}
}
