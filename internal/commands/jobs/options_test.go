package jobs_test

import (
	"testing"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/jobs"
	"github.com/berthdev/berth/internal/terminal"
)

func TestOptions(t *testing.T) {
	forget := func(o *jobs.Options) { o.IO, o.Open = terminal.Streams{}, nil }
	cmdtest.Options(t, jobs.NewCmd, forget, map[string]cmdtest.Case[jobs.Options]{
		"a list":                {},
		"those of a workspace":  {Args: "--workspace alice", Want: jobs.Options{Workspace: "alice"}},
		"one that is followed":  {Args: "x -f", Want: jobs.Options{Job: "x", Follow: true}},
		"to follow a list":      {Args: "-f", Err: "--follow requires the ID of a job"},
		"a job and a workspace": {Args: "x --workspace alice", Err: "mutually exclusive"},
	})
}
