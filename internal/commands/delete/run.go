package delete

import (
	"context"
	"strings"
	"time"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal/result"
)

// Run deletes the workspaces; one alone is a list of one.
func Run(ctx context.Context, o *Options) error {
	begun := time.Now()
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	removals, err := o.Parse(done) // before the cluster is asked
	if err != nil {
		return err
	}
	p, err := cmdutil.Await(ctx, o.Remover)
	if err != nil {
		return err
	}
	recorders, err := o.Recorders(ctx)
	if err != nil {
		return err
	}
	defer recorders.Close()
	p.States, p.WaitForLock = recorders.States(p.Client), o.Wait
	if removals, err = o.find(ctx, p, removals); err != nil {
		return err
	}
	if o.DryRun != "" {
		return o.preview(ctx, p, removals[0])
	}
	if err := o.confirm(ctx, p, removals); err != nil {
		return err
	}
	defer recorders.CleanUp(ctx)()
	return batch.Work{
		IO: o.IO, Output: o.Output, Batch: o.Batch(p.Client.Namespace, removals, "delete", o.again, o.Flags),
		Begun: begun, Requests: p.Client.Requests.Count, Ended: o.Ended,
		Summary: func(results []v1.Result, totals v1.Totals) v1.Result { return summary(removals, results, totals) },
		One: func(ctx context.Context, m batch.Member) v1.Result {
			return o.deleteOne(ctx, p, removals[m.Index], m.Stream)
		},
	}.Run(ctx)
}

// again is the command that deletes what is left of a selection.
func (o *Options) again(of batch.Selection) string {
	words := append([]string{"berth delete"}, of.Words()...)
	if o.KeepStorage {
		words = append(words, "--keep-storage")
	}
	return strings.Join(append(append(words, "--ignore-not-found"), o.Flags...), " ")
}

// deleteOne deletes one workspace.
func (o *Options) deleteOne(
	ctx context.Context, p *provision.Provisioner, m batch.Workspace, stream *event.Stream,
) v1.Result {
	err := batch.OrDenied(m.Err)
	if fault.CodeOf(err) == fault.NotFound {
		if !o.ByOwner {
			p.Forget(ctx, m.Argument)
		}
		if o.IgnoreNotFound || o.ByOwner { // one of an owner's that is gone meanwhile is as wanted
			return v1.Result{Deletion: &v1.Deletion{
				ID: m.ID, Namespace: m.Namespace, Gone: true, NotFound: true,
			}}
		}
	}
	var deletion *v1.Deletion
	if err == nil {
		deletion, err = p.Delete(ctx, m.Target, deploy.Removing{Wait: !o.NoWait, KeepStorage: o.KeepStorage}, stream)
	}
	if err != nil {
		return v1.Result{Error: result.NewError(notThere(err))}
	}
	return v1.Result{Deletion: deletion}
}

// notThere is the error about a workspace that does not exist, for a caller that wants it gone: it does not
// say how to create it.
func notThere(err error) error {
	if fault.CodeOf(err) != fault.NotFound {
		return err
	}
	missing := *fault.From(err)
	if missing.Reason == inventory.ReasonMeant || missing.Reason == inventory.ReasonNoNamespace {
		return err
	}
	return missing.WithHint("with --ignore-not-found that is no error; `berth status` lists the workspaces of a " +
		"namespace, and --namespace chooses another one")
}

// summary is the result of several.
func summary(removals []batch.Workspace, results []v1.Result, totals v1.Totals) v1.Result {
	items := make([]v1.DeletionItem, len(results))
	for i, r := range results {
		m := removals[i]
		items[i] = v1.DeletionItem{
			Argument: m.Typed, UserString: m.UserString, ID: m.ID, Namespace: m.Namespace,
			Deletion: r.Deletion, Error: r.Error,
		}
	}
	return v1.Result{Deletions: &v1.DeletionSummary{Items: items, Totals: totals}}
}

// preview prints what the deletion would remove.
func (o *Options) preview(ctx context.Context, p *provision.Provisioner, m batch.Workspace) error {
	err := batch.OrDenied(m.Err)
	if o.IgnoreNotFound && fault.CodeOf(err) == fault.NotFound {
		return batch.PrintChanges(ctx, o.IO, o.Output, o.DryRun, nil, nil)
	}
	if err != nil {
		return batch.DryRunError(ctx, notThere(err))
	}
	changes, err := p.PreviewDelete(ctx, m.Target, deploy.Removing{KeepStorage: o.KeepStorage, DryRun: o.DryRun})
	return batch.PrintChanges(ctx, o.IO, o.Output, o.DryRun, changes, err)
}
