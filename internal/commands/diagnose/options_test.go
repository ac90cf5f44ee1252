package diagnose_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/diagnose"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *diagnose.Options) { o.IO, o.Config, o.Inventory, o.States = terminal.Streams{}, nil, nil, nil }
	cmdtest.Options(t, diagnose.NewCmd, forget, map[string]cmdtest.Case[diagnose.Options]{
		"a workspace": {Args: "alice --exit-code", Want: diagnose.Options{Arg: "alice", ExitCode: true}},
		"a dump": {
			Args: "-f x.json --subject pod/a --now 2026-11-20T23:50:25Z -n team",
			Want: diagnose.Options{
				FromFile: true, File: "x.json", Subject: "pod/a",
				Now: time.Date(2026, 11, 20, 23, 50, 25, 0, time.UTC), Namespace: "team",
			},
		},
		"nothing":                {Err: "requires a workspace, pod or workload, or --filename"},
		"a dump without a name":  {Args: "--filename=", Err: "--filename must not be empty"},
		"a dump and a workspace": {Args: "-f x.json alice", Err: "--subject alice"},
		"a subject without dump": {Args: "--subject alice x", Err: "--subject and --now require --filename"},
		"an invalid time": {
			Args: "-f - --now yesterday",
			Err:  `invalid --now "yesterday": use RFC 3339, for example 2026-11-20T23:50:25Z`,
		},
	})
}
