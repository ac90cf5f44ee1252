package jobs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// StatsOptions are what the command line says.
type StatsOptions struct {
	IO   terminal.Streams
	Open func(context.Context) (cmdutil.Jobs, error)

	Since  time.Duration // 0 for all
	By     v1.JobGrouping
	Output printer.Format
}

// NewStats makes `berth jobs stats`.
func NewStats(f *cmdutil.Factory, runF func(context.Context, *StatsOptions) error) *cobra.Command {
	o := &StatsOptions{IO: f.IO}
	cmd := &cobra.Command{
		Use:        "stats",
		SuggestFor: []string{"statistics", "times", "top"},
		Short:      "Where the time of provisionings goes, and what they fail of",
		Long: `Count the provisionings that there are records of: how many succeeded, how many failed
and of what, and how long each stage took: the median, what nine of ten did not exceed,
and the longest. Each of these is a duration that one of them had (the nearest rank).

All the time that a provisioning spent in a stage is counted as one, also if it failed in
the end; a stage that had not ended when nobody waited any more is not. "until Running"
is the whole of those that succeeded, from the first step.

Records are kept for a limited time: the last line says how far back they reach. What a
record does not say, as those of earlier versions, is counted as "-".`,
		Example: `  berth jobs stats
  berth jobs stats --since 7d --by blueprint
  berth jobs stats --by node --output json`,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runF(cmd.Context(), o) },
	}
	o.Open = f.For(cmd).OpenJobs
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "wide", "json", "yaml", "jsonpath=", "go-template=")
	cmdutil.DaysVar(cmd, &o.Since, "since",
		"count only jobs that began less than this ago, such as 90m, 24h or 7d (0: all)")
	cmdutil.EnumVar(cmd, &o.By, "by", "count in groups", v1.JobsByBlueprint, v1.JobsByUser, v1.JobsByNode,
		v1.JobsByImage)
	return cmd
}

// Stats prints where the time of the jobs went.
func Stats(ctx context.Context, o *StatsOptions) error {
	jobs, err := o.Open(ctx)
	if err != nil {
		return err
	}
	defer jobs.Close()
	list, _, err := jobs.ReadAll(ctx, o.IO, "")
	if err != nil {
		return err
	}
	keep, known := jobs.Retention(ctx)
	doc := result.JobStats{JobStats: o.count(list.Items, keep)}
	if err := printer.Print(o.IO, o.Output, doc); err != nil {
		return err
	}
	if o.Output.IsText() && doc.Total.Jobs > 0 {
		kept := ""
		if known {
			kept = job.FormatRetention(keep)
		}
		printer.PrintNote(o.IO, doc.Reach(printer.Page(o.IO, o.Output), kept))
	}
	return nil
}

// count counts the jobs that are meant, of all, the newest first.
func (o *StatsOptions) count(all []v1.Job, kept time.Duration) v1.JobStats {
	since := o.IO.Now().Add(-o.Since).UTC()
	var meant []v1.Job
	for _, j := range all {
		if o.Since == 0 || !j.CreatedAt.Before(since) {
			meant = append(meant, j)
		}
	}
	stats := job.Stats(meant, o.By)
	stats.KeptSeconds = kept.Seconds()
	if o.Since > 0 {
		stats.Since = since
	}
	if len(all) > 0 {
		stats.OldestAt = all[len(all)-1].CreatedAt
	}
	return stats
}
