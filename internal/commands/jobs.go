package commands

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/job"
	"github.com/berthdev/berth/internal/terminal/printer"
)

type jobsOptions struct {
	output    outputFlag
	workspace string
	follow    bool
}

func newJobs(a *app) *cobra.Command {
	o := &jobsOptions{}
	cmd := &cobra.Command{
		Use:   "jobs [JOB]",
		Short: "List the provisionings of the last days, or show or follow one",
		Long: `Every provisioning keeps a record: each stage that it reached and what
Kubernetes said on the way. Without an argument, list them; with the ID of a
job, show what happened. With --follow, go on until the job has ended, and exit
as it did: 0 if the workspace runs, 3 if it failed.

Records are kept for 48 hours, in NATS if that is configured, otherwise in the
cluster.`,
		Example: `  berth jobs
  berth jobs --workspace alice~dev
  berth jobs 5f0c1a52-9d7b-4c55-a3b1-2a8c0f6f1e77 --follow
  berth jobs --output json`,
		Args:              atMostOne("job"),
		ValidArgsFunction: a.completeJobs,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	o.output.register(cmd, "text", "wide", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmd.Flags().StringVar(&o.workspace, "workspace", "", "only the jobs of this workspace (user string or ID)")
	cmd.Flags().BoolVarP(&o.follow, "follow", "f", false, "go on until the job has ended, and exit as it did")
	_ = cmd.RegisterFlagCompletionFunc("workspace", a.completeWorkspaces)
	return cmd
}

func (o *jobsOptions) run(ctx context.Context, a *app, cmd *cobra.Command, args []string) error {
	switch {
	case o.follow && len(args) == 0:
		return usage(cmd, fault.New(fault.InvalidArgument, "--follow needs the ID of a job"))
	case o.workspace != "" && len(args) > 0:
		return usage(cmd, fault.New(fault.InvalidArgument, "--workspace and a job exclude each other"))
	}
	stores, err := a.openJobs(ctx, cmd)
	if err != nil {
		return err
	}
	defer stores.Close()
	switch {
	case o.follow:
		return o.followJob(ctx, a, stores, args[0])
	case len(args) == 1:
		record, err := readJob(ctx, stores, args[0])
		if err != nil {
			return err
		}
		return printer.Print(a.streams, o.output.format, new(record.Document(time.Now())))
	}
	records, err := a.listJobs(ctx, stores)
	if err != nil {
		return err
	}
	list := jobList(records, o.workspace)
	for i := range list.Items {
		list.Items[i].Events = nil
	}
	return printer.Print(a.streams, o.output.format, list)
}

// openJobs opens the stores for who reads.
func (a *app) openJobs(ctx context.Context, cmd *cobra.Command) (*job.Stores, error) {
	client, err := a.client()
	if err != nil {
		return nil, err
	}
	stores, err := a.jobStores(ctx, cmd, client)
	if err == nil && stores == nil {
		err = fault.New(fault.InvalidArgument, "no records of jobs are kept: jobs.store is none").
			WithHint("set it to auto, nats or cluster in the configuration")
	}
	return stores, err
}

// jobTime is how long a store may take to answer who reads.
const jobTime = 5 * time.Second

func readJob(ctx context.Context, stores *job.Stores, id string) (job.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	return stores.Get(ctx, id)
}

// listJobs reads all records, and moves those into NATS that wait for it.
func (a *app) listJobs(ctx context.Context, stores *job.Stores) ([]job.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	records, missing, err := stores.List(ctx)
	if err != nil && missing != nil {
		return nil, missing
	}
	if err != nil {
		return nil, err
	}
	if missing != nil {
		printer.PrintWarning(a.streams, "only the records in the cluster are listed: "+missing.Error())
		return records, nil
	}
	if _, err := stores.Move(ctx); err != nil {
		printer.PrintWarning(a.streams, "records that belong into NATS are still in the cluster: "+err.Error())
	}
	return records, nil
}

// jobList is what is printed of records: the newest first, those of one
// workspace if one is named.
func jobList(records []job.Record, workspace string) *v1.JobList {
	now := time.Now()
	list := &v1.JobList{TypeMeta: v1.Kind(v1.KindJobList), Items: []v1.Job{}}
	names := workspaceNames(workspace)
	for _, r := range records {
		if workspace == "" || slices.Contains(names, r.WorkspaceName) {
			list.Items = append(list.Items, r.Document(now))
		}
	}
	slices.SortFunc(list.Items, func(a, b v1.Job) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return list
}

// followJob tells what happens to a job until it has ended, and ends as it did.
func (o *jobsOptions) followJob(ctx context.Context, a *app, stores *job.Stores, id string) error {
	view := printer.FollowJob(a.streams, o.output.format)
	last, err := stores.Follow(ctx, id, time.Now, func(r job.Record) { view.Show(r.Document(time.Now())) })
	if ctx.Err() != nil {
		// Who follows ends it by Ctrl-C: that is no error to speak of.
		return statusError(fault.CodeOf(context.Cause(ctx)).Exit())
	}
	if err != nil {
		return err
	}
	if err := view.End(last.Document(time.Now())); err != nil {
		return err
	}
	if err := last.Err(time.Now()); err != nil {
		if !o.output.format.IsText() {
			return statusError(fault.CodeOf(err).Exit()) // the document says it
		}
		return err
	}
	return nil
}

// completeJobs completes the IDs of jobs.
func (a *app) completeJobs(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	stores, err := a.openJobs(ctx, cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	defer stores.Close()
	records, _, err := stores.List(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []cobra.Completion
	for _, j := range jobList(records, "").Items {
		ids = append(ids, cobra.CompletionWithDesc(j.ID, j.WorkspaceName+", "+string(j.State)))
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
