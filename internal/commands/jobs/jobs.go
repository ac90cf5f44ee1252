// Package jobs is the command `berth jobs`.
package jobs

import (
	"context"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Options are what the command line says.
type Options struct {
	IO   terminal.Streams
	Open func(context.Context) (cmdutil.Jobs, error)

	Job       string // empty for a list
	Workspace string // of the jobs in the list
	Follow    bool
	Output    printer.Format
}

// NewCmd makes the command, and the one below it.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:        "jobs [JOB]",
		SuggestFor: []string{"history", "runs"},
		Short:      "List recent provisionings, or show or follow one",
		Long: `Every provisioning keeps a record of each stage that it reached and of what
Kubernetes reported on the way. Without an argument, list them; with the ID of a
job, show what happened. With --follow, follow it until it ends, and exit with its
status: 0 if the workspace runs, 3 if it failed, 8 if no command works on it any more.
"berth jobs stats" says where the time of all of them goes.

Running is what a command works on now, and Interrupted what none works on any more.
Created ended once everything was created, as with --no-wait, or for a start by "berth
reconcile" or "berth serve workspaces". Nobody has waited for the workspace then, and
--follow exits with 0, too: "berth status" says what became of it.

The list has the beginnings of the IDs, which are as good as the whole ones; those are
in the documents and with --output wide.

Records are kept for 48 hours, or as long as jobs.retention says, in NATS if that is
configured, otherwise in the cluster.`,
		Example: `  berth jobs
  berth jobs --workspace alice~dev
  berth jobs 5f0c1a5 --follow
  berth jobs --output json`,
		Args: cmdutil.MaxOneArg("job"),
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Job = cmdutil.Optional(args)
			if !job.MayBeID(o.Job) {
				if err := cmdutil.Subcommand(cmd, o.Job); err != nil {
					return err
				}
			}
			return o.validate()
		}),
	}
	o.Open = f.For(cmd).OpenJobs
	cmd.ValidArgsFunction = o.complete
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "wide", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmd.Flags().StringVar(&o.Workspace, "workspace", "", "list only the jobs of this workspace (user string or ID)")
	cmd.Flags().BoolVarP(&o.Follow, "follow", "f", false, "follow the job until it ends, and exit with its status")
	_ = cmd.RegisterFlagCompletionFunc("workspace", f.CompleteWorkspace)
	cmd.AddCommand(NewStats(f, Stats))
	return cmd
}

// validate finds flags that do not go together.
func (o *Options) validate() error {
	switch {
	case o.Follow && o.Job == "":
		return fault.New(fault.InvalidArgument, "--follow requires the ID of a job")
	case o.Workspace != "" && o.Job != "":
		return fault.New(fault.InvalidArgument, "--workspace and the job %q are mutually exclusive", o.Job)
	}
	return nil
}

// Run lists the jobs, or shows or follows one.
func Run(ctx context.Context, o *Options) error {
	jobs, err := o.Open(ctx)
	if err != nil {
		return err
	}
	defer jobs.Close()
	switch {
	case o.Follow:
		return o.follow(ctx, jobs)
	case o.Job != "":
		document, err := jobs.Read(ctx, o.Job)
		if err != nil {
			return err
		}
		return printer.Print(o.IO, o.Output, result.Job{Job: *document})
	}
	list, short, err := jobs.ReadAll(ctx, o.IO, o.Workspace)
	if err != nil {
		return err
	}
	for i := range list.Items {
		list.Items[i].Events, list.Items[i].Timeline = nil, nil
	}
	if err := printer.Print(o.IO, o.Output, result.Jobs{JobList: *list, Short: short}); err != nil {
		return err
	}
	if o.Output.IsText() && len(list.Items) > 0 {
		note := english.Plural(len(list.Items), "job")
		if keep, known := jobs.Retention(ctx); known {
			note += "; records are kept for " + job.FormatRetention(keep)
		}
		printer.PrintNote(o.IO, note)
	}
	return nil
}

// follow prints what happens to a job until it has ended, and ends as it did: as
// text a line for each entry, else the document at the end.
func (o *Options) follow(ctx context.Context, jobs cmdutil.Jobs) error {
	shown := map[string]string{}
	id, err := jobs.Find(ctx, o.Job)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	last, err := jobs.Follow(ctx, id, time.Now, func(r job.Record) {
		if o.Output.IsText() {
			lines := result.Job{Job: r.Document(time.Now())}.NewLines(printer.Page(o.IO, o.Output), shown)
			_, _ = io.WriteString(o.IO.Out, style.JoinLines(lines))
		}
	})
	if ctx.Err() != nil {
		return cmdutil.FollowEnded(ctx, context.Cause(ctx))
	}
	if err != nil {
		return err
	}
	err = last.Err(time.Now())
	if o.Output.IsText() {
		return err
	}
	if err := printer.Print(o.IO, o.Output, result.Job{Job: last.Document(time.Now())}); err != nil {
		return err
	}
	if err != nil {
		return cmdutil.ExitError(fault.CodeOf(err).Exit()) // it is in the document
	}
	return nil
}

// complete completes the ID of a job: its short form, or the whole one if more was typed.
func (o *Options) complete(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion,
	cobra.ShellCompDirective,
) {
	return cmdutil.CompleteOne(func(cmd *cobra.Command) (ids []cobra.Completion, err error) {
		ctx, cancel := context.WithTimeout(cmd.Context(), cmdutil.CompletionTimeout)
		defer cancel()
		jobs, err := o.Open(ctx)
		if err != nil {
			return nil, err
		}
		defer jobs.Close()
		records, _, err := jobs.List(ctx)
		short := job.ShortIDs(records)
		for _, r := range records {
			id := short[r.ID]
			if len(typed) > len(id) {
				id = r.ID
			}
			ids = append(ids, cobra.CompletionWithDesc(id, r.WorkspaceName+", "+string(r.State(o.IO.Now()))))
		}
		return ids, err
	})(cmd, args, typed)
}
