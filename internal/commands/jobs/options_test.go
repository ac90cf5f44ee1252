package jobs_test

import (
	"testing"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
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

func TestStatsOptions(t *testing.T) {
	forget := func(o *jobs.StatsOptions) { o.IO, o.Open = terminal.Streams{}, nil }
	cmdtest.Options(t, jobs.NewStats, forget, map[string]cmdtest.Case[jobs.StatsOptions]{
		"all": {},
		"of some days": {
			Args: "--since 7d --by node",
			Want: jobs.StatsOptions{Since: 7 * 24 * time.Hour, By: v1.JobsByNode},
		},
		"of some hours":        {Args: "--since 1d12h", Want: jobs.StatsOptions{Since: 36 * time.Hour}},
		"of a time to come":    {Args: "--since -7d", Err: "must be a duration, such as 90m, 24h or 7d"},
		"of no time":           {Args: "--since yesterday", Err: "must be a duration"},
		"by what is not known": {Args: "--by colour", Err: "must be one of: blueprint, user, node, image"},
		"of one job":           {Args: "5f0c1a5", Err: "unexpected argument"},
	})
}
