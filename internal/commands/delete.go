package commands

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/wording"
)

type deleteOptions struct {
	output         outputFlag
	noWait         bool
	wait           bool
	ignoreNotFound bool
	timeout        time.Duration
	many           deleteManyFlags
	dryRun         dryRunFlag
}

func newDelete(a *app) *cobra.Command {
	o := &deleteOptions{}
	cmd := &cobra.Command{
		Use:   "delete USERSTR|ID...",
		Short: "Remove workspaces and everything that belongs to them",
		Long: `Remove a workspace and everything that belongs to it, its storage included, and
wait until its pod is gone. What workspaces of the namespace share stays.

With --timeout it gives up waiting and says what is still there: how far the pod
is, how much of its grace period is left, and which finalizers hold it.
` + aboutDeleteMany,
		Example: `  berth delete alice~dev
  berth delete id/alice-2bd806c --no-wait
  berth delete alice~dev bob~dev --ignore-not-found --timeout 2m
  berth delete --owner alice --all-namespaces --yes`,
		Args:              o.args,
		ValidArgsFunction: a.completeWorkspaces,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), a, cmd, args) },
	}
	o.output.register(cmd, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	cmd.Flags().BoolVar(&o.noWait, "no-wait", false, "do not wait until the pod is gone")
	cmd.Flags().BoolVar(&o.wait, "wait", false, "wait for who provisions the workspace at this moment, instead of failing")
	cmd.Flags().BoolVar(&o.ignoreNotFound, "ignore-not-found", false, "succeed if there is no such workspace")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 0, "give up after this time, such as 90s or 5m (0: never)")
	o.many.register(cmd, a)
	o.dryRun.register(cmd)
	return cmd
}

func (o *deleteOptions) run(ctx context.Context, a *app, cmd *cobra.Command, args []string) error {
	ctx, cancel := withTimeout(ctx, o.timeout)
	defer cancel()
	if o.many.owner != "" || len(args) > 1 {
		return o.runMany(ctx, a, cmd, args)
	}
	arg := args[0]
	p, err := a.provisioner(cmd)
	if err != nil {
		return err
	}
	p.WaitForLock = o.wait
	target, err := p.Find(ctx, arg)
	err = orDenied(err)
	if fault.CodeOf(err) == fault.NotFound && !o.dryRun.on() {
		p.Forget(ctx, arg)
	}
	if o.ignoreNotFound && fault.CodeOf(err) == fault.NotFound {
		return printer.Print(a.streams, o.output.format, &v1.Deletion{
			TypeMeta: v1.Kind(v1.KindDeletion), ID: arg, Namespace: p.Client.Namespace, Gone: true, NotFound: true,
		})
	}
	if o.dryRun.on() {
		return o.preview(ctx, a, p, target, err)
	}
	if err != nil {
		return because(ctx, err)
	}
	title := wording.Title{UserString: arg, ID: target.ID, Namespace: target.Namespace, Verb: "delete", Flags: givenFlags(cmd)}
	view := a.startProgress(o.output.format, title)
	stream := event.NewStream(target.ID, time.Now, view)
	deletion, err := p.Delete(ctx, target, o.noWait, stream)
	result := v1.Result{Deletion: deletion}
	if err != nil {
		document := printer.ErrorDocument(err)
		document.Hint = title.Located(document.Hint)
		result = v1.Result{Error: &document}
	}
	stream.Finish(result)
	if reportErr := printer.Report(a.streams, o.output.format, result, view.Shown()); reportErr != nil {
		return reportErr
	}
	if err != nil {
		return statusError(fault.CodeOf(err).Exit())
	}
	return nil
}

// preview prints what a deletion would remove of what was found.
func (o *deleteOptions) preview(ctx context.Context, a *app, p *provision.Provisioner, target *inventory.Target, err error) error {
	if err != nil {
		return o.dryRun.because(ctx, err)
	}
	changes, err := p.PreviewDelete(ctx, target, o.dryRun.server())
	return o.dryRun.show(ctx, a, o.output.format, changes, err)
}
