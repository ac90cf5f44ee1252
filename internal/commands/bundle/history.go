package bundle

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result/bundle"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// NewHistory makes `berth bundle history`.
func NewHistory(f *cmdutil.Factory, runF func(context.Context, *ClusterOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:        "history NAME",
		SuggestFor: []string{"revisions", "log"},
		Short:      "List the revisions of a bundle",
		Long: `List what is recorded of a bundle, the newest first: each installation and upgrade, when
that was, and what it was made from. Of an attempt that has failed, why is there, too.

Ten revisions are kept. "berth bundle rollback" installs again what one of them had.`,
		Example: `  berth bundle history shop
  berth bundle history shop --output wide
  berth bundle history shop -o json | jq '.items[] | select(.status == "failed").message'`,
		Args:              cmdutil.OneArg("bundle"),
		ValidArgsFunction: completeInstance(f),
	}
	o := newCluster(f, cmd, "text", "wide", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Name = args[0]
		return runF(cmd.Context(), o)
	}
	return cmd
}

// History prints the revisions of an instance.
func History(ctx context.Context, o *ClusterOptions) error {
	r, err := o.Open(ctx, o.System)
	if err != nil {
		return err
	}
	history, err := r.Revisions(ctx, o.Name)
	if err != nil {
		return err
	}
	return printer.Print(o.IO, o.Output, bundle.History{BundleHistory: history})
}

// RollbackOptions are what the command line of rollback says.
type RollbackOptions struct {
	InstallOptions
	Revision int // 0 for the one before the current
	// IgnoreGitOps rolls an instance back that another program applies.
	IgnoreGitOps bool
}

// NewRollback makes `berth bundle rollback`.
func NewRollback(f *cmdutil.Factory, runF func(context.Context, *RollbackOptions) error) *cobra.Command {
	o := &RollbackOptions{InstallOptions: InstallOptions{IO: f.IO}}
	cmd := &cobra.Command{
		Use:        "rollback NAME [REVISION]",
		SuggestFor: []string{"undo", "revert"},
		Short:      "Install again what an earlier revision of a bundle had",
		Long: `Install again what an earlier revision of a bundle had, and wait until every object is
healthy: the one that was installed before the newest, or REVISION, one of those that "berth
bundle history" lists. Name it to go on with a rollback that did not end. It is an upgrade
like any other, with the same checks, and has a revision of its own; --dry-run shows what it
would change.

What is wanted is changed on the BundleInstance: to the content that the revision was made
of, pinned to what it was then, and to the values of its chart. So a server of berth does
not undo it. Flux and Argo CD would: if one of them applies the instance, it is refused.
Change the instance where they have it from, or suspend them and give --ignore-gitops.

The content is that of the Bundle if it is still there, or is fetched from where it was, with
the versions of what a chart depended on. What was sent from a directory or an archive is
taken from the cache of this machine, and elsewhere made of the objects that the release has
recorded. A chart is more than its objects: one that was sent from another machine is not
installed again. Comments in the values of a chart are lost.

If a server of berth reconciles bundles, it does the work, and this command follows it.`,
		Example: `  berth bundle history shop
  berth bundle rollback shop
  berth bundle rollback shop 3 --dry-run=server`,
		ValidArgsFunction: completeRevision(f),
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) (err error) {
			if len(args) < 1 || len(args) > 2 {
				return fault.New(fault.InvalidArgument, "requires a bundle and at most one revision, got %s",
					english.Plural(len(args), "argument"))
			}
			if len(args) == 2 {
				if o.Revision, err = strconv.Atoi(args[1]); err != nil || o.Revision < 1 {
					return fault.New(fault.InvalidArgument,
						"invalid revision %q: use one that `berth bundle history` lists", args[1])
				}
			}
			o.Name, o.Flags = args[0], clusterFlags(cmd, o.System)
			if err := o.check(); err != nil {
				return err
			}
			return cmdutil.CheckRender(o.RenderTimeout)
		}),
	}
	addSystemFlag(cmd, &o.System)
	o.addFollowFlags(f, cmd)
	cmd.Flags().BoolVar(&o.IgnoreGitOps, "ignore-gitops", false,
		"roll back though Flux or Argo CD applies the instance, and undoes it unless it is suspended")
	cmdutil.AddRenderFlag(cmd, &o.RenderTimeout)
	return cmd
}

// completeRevision completes the name of an instance, and then one of its revisions.
func completeRevision(f *cmdutil.Factory) cobra.CompletionFunc {
	instances := completeInstance(f)
	return func(cmd *cobra.Command, args []string, typed string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
		if len(args) != 1 {
			return instances(cmd, args, typed)
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), cmdutil.CompletionTimeout)
		defer cancel()
		r, err := f.Bundles(ctx, cmd.Flag("system-namespace").Value.String())
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		history, err := r.Revisions(ctx, args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		for _, revision := range history.Items {
			all = append(all, cobra.CompletionWithDesc(strconv.Itoa(revision.Revision), revision.Status))
		}
		return all, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
	}
}

// Rollback installs what an earlier revision had.
func Rollback(ctx context.Context, o *RollbackOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r, err := o.Open(ctx, o.System)
	if err != nil {
		return err
	}
	r.Force, r.RenderTime = o.ForceConflicts, o.RenderTimeout
	title := wording.Title{ID: o.Name, Verb: "bundle rollback", Flags: o.Flags}
	return o.run(ctx, r, title, o.earlier)
}

// checkGitOps refuses what another program would undo; a dry run does nothing.
func (o *RollbackOptions) checkGitOps(k instance.Snapshot) error {
	if k.Instance == nil || o.IgnoreGitOps || o.DryRun != apply.DryRunNone {
		return nil
	}
	by := resource.AppliedBy(k.Instance)
	if by == "" {
		return nil
	}
	return fault.New(fault.Conflict, "%s applies bundle %s, and would undo a rollback", by, o.Name).
		WithHint("change the BundleInstance where it comes from, or suspend that and add --ignore-gitops")
}

// earlier prepares the installation of an earlier revision.
func (o *RollbackOptions) earlier(
	ctx context.Context, r instance.Reconciler, steps *event.Steps,
) (q instance.Request, known instance.Snapshot, err error) {
	if known, err = r.Snapshot(ctx, o.Name); err != nil {
		return q, known, err
	}
	if err := o.checkGitOps(known); err != nil {
		return q, known, err
	}
	err = steps.Do("fetch", func() (string, error) {
		if q, err = r.Earlier(ctx, o.Name, o.Revision, known, steps); err != nil {
			return "", err
		}
		again := []string{"berth bundle rollback", o.Name, strconv.Itoa(q.Revision)}
		o.goesOn = strings.Join(append(again, o.Flags...), " ")
		return "revision " + strconv.Itoa(q.Revision) + ", " + english.Plural(q.Content.Files, "file"), nil
	})
	if q.Until = instance.UntilHealthy; o.NoWait {
		q.Until = instance.UntilInstalled
	}
	err = checked(ctx, r, &q, known, steps, err)
	return q, known, err
}
