package delete_test

import (
	"testing"
	"time"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	deletion "github.com/berthdev/berth/internal/commands/delete"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *deletion.Options) { o.IO, o.Remover, o.Recorders, o.Ended = terminal.Streams{}, nil, nil, nil }
	cmdtest.Options(t, deletion.NewCmd, forget, map[string]cmdtest.Case[deletion.Options]{
		"one workspace": {
			Args: "alice",
			Want: deletion.Options{Selection: batch.Selection{Args: []string{"alice"}, Parallel: 4}},
		},
		"several workspaces": {
			Args: "alice bob --parallel 2 --timeout 2m --ignore-not-found --wait --no-wait -n team",
			Want: deletion.Options{
				Selection: batch.Selection{Args: []string{"alice", "bob"}, Parallel: 2},
				Timeout:   2 * time.Minute, IgnoreNotFound: true, Wait: true, NoWait: true, Flags: []string{"-n team"},
			},
		},
		"all of an owner": {
			Args: "--owner alice -A -y",
			Want: deletion.Options{Selection: batch.Selection{
				Args: []string{}, ByOwner: true, Owner: "alice",
				AllNamespaces: true, Parallel: 4,
			}, Yes: true},
		},
		"a dry run": {
			Args: "alice --dry-run=SERVER",
			Want: deletion.Options{
				Selection: batch.Selection{Args: []string{"alice"}, Parallel: 4},
				DryRun:    apply.DryRunServer,
			},
		},
		"a dry run of several": {
			Args: "alice bob --dry-run=client",
			Err:  "--dry-run accepts only one workspace",
		},
		"a dry run of an owner's": {
			Args: "--owner alice --dry-run=client",
			Err:  "--dry-run accepts only one workspace",
		},
		"a dry run of an unknown kind": {Args: "alice --dry-run=none", Err: "must be one of: client, server"},
		"nothing":                      {Err: "requires at least one workspace, or --owner"},
		"all namespaces without owner": {Args: "-A alice", Err: "--all-namespaces requires --owner"},
		"an owner and a workspace":     {Args: "--owner alice bob", Err: "mutually exclusive"},
		"an owner without a name":      {Args: "--owner=", Err: "--owner must not be empty"},
		"a format that there is not": {
			Args: "alice -o wide",
			Err:  "must be one of: text, json, yaml, jsonl, name, jsonpath=, go-template=",
		},
	})
}
