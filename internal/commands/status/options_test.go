package status_test

import (
	"strings"
	"testing"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/status"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *status.Options) {
		o.IO, o.Inventory, o.Jobs, o.States, o.Limits = terminal.Streams{Flags: o.IO.Flags}, nil, nil, nil, nil
	}
	cmdtest.Options(t, status.NewCmd, forget, map[string]cmdtest.Case[status.Options]{
		"a list": {},
		"a list of some": {
			Args: "-A --owner a,b --owner c --blueprint dev --stage failed,Pulling -l x=y --sort-by " +
				"AGE --no-headers -w",
			Want: status.Options{
				AllNamespaces: true, Owners: []string{"a", "b", "c"}, Blueprints: []string{"dev"},
				Stages:   []v1.Stage{v1.StageFailed, v1.StagePulling},
				Selector: "x=y", SortBy: fleet.ByAge, NoHeaders: true, Watch: true,
			},
		},
		"one workspace": {
			Args: "alice --events -n t",
			Want: status.Options{IO: terminal.Streams{Flags: []string{"-n t"}}, Workspace: "alice", Events: true},
		},
		"its history":     {Args: "alice --history", Want: status.Options{Workspace: "alice", History: true}},
		"events of none":  {Args: "--events", Err: "--events requires a workspace"},
		"history of none": {Args: "--history", Err: "--history requires a workspace"},
		"a stage of one workspace": {
			Args: "alice --stage Failed",
			Err:  `--stage and the workspace "alice" are mutually exclusive`,
		},
		"an unknown stage": {Args: "--stage Fine", Err: "must be one of: Scheduling"},
		"an unknown order": {Args: "--sort-by colour", Err: "must be one of: name"},
		"two workspaces":   {Args: "alice bob", Err: "accepts at most one workspace, got 2"},
	})
}

// An empty argument is not taken for none.
func TestEmptyArgument(t *testing.T) {
	cmdtest.Offline(t)
	for _, command := range []string{"status", "provision", "jobs", "diagnose"} {
		if _, stderr := cmdtest.Must(t, 2, command, ""); !strings.Contains(stderr, "must not be empty") {
			t.Errorf("berth %s: %s", command, stderr)
		}
	}
}
