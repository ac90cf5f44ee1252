package reconcile_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/reconcile"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *reconcile.Options) {
		o.IO, o.Provisioner, o.Recorders, o.Limits = terminal.Streams{}, nil, nil, nil
	}
	cmdtest.Options(t, reconcile.NewCmd, forget, map[string]cmdtest.Case[reconcile.Options]{
		"the defaults": {Want: reconcile.Options{Parallel: 4}},
		"all of it": {
			Args: "-A --full --parallel 2 --timeout 1m --trust-records",
			Want: reconcile.Options{
				AllNamespaces: true, Full: true, TrustRecords: true, Parallel: 2,
				Timeout: time.Minute,
			},
		},
		"an argument": {Args: "alice", Err: "unexpected argument"},
		"no time":     {Args: "--timeout -1s", Err: "--timeout"},
		"nobody":      {Args: "--parallel 0", Err: "--parallel must be at least 1, got 0"},
	})
}
