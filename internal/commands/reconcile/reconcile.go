// Package reconcile is the command `berth reconcile`.
package reconcile

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/batch"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/controller"
	"github.com/berthdev/berth/internal/provision/deploy"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// Options are what the command line says.
type Options struct {
	IO          terminal.Streams
	Provisioner func() (*provision.Provisioner, error)
	Recorders   func(context.Context) (*cmdutil.Recorders, error)
	Limits      func() (lifecycle.Limits, error)

	AllNamespaces bool
	Full          bool
	Parallel      int
	Timeout       time.Duration
	Output        printer.Format
	TrustRecords  bool
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{IO: f.IO}
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Bring workspaces to their desired state, once",
		Long: `Compare the workspaces of the namespace with the recorded desired state,
and complete what is not so yet: a stop, start, restart or deletion that was interrupted,
and what a limit says ("limits" in blueprints and in the configuration). A workspace
whose pod is gone, or over, is started again with any storage it has: after a drain, an
eviction or the end of its node. It is what "berth serve workspaces" does all the time.

What is recorded is done only if its author could do it, too: an admission policy of the
cluster sees to that ("berth serve manifests workspaces" prints it). Without the policy, or
if you may not see it, nothing is done unless you trust everybody who may write ConfigMaps
and Secrets in the namespace: with --trust-records whatever is recorded is done, and the
storage of workspaces that are deleted is kept.

Workspaces that have no record get one: their desired state is the observed one, and Running if
their pods are gone, as a stop is recorded. With --full, what was to be done before and was
done is looked at again, too.

Nothing is waited for: "berth status" tells what becomes of it, and a restart may take two
runs. The exit status is 3 if something could not be done.`,
		Example: `  berth reconcile
  berth reconcile --full --all-namespaces
  berth reconcile --trust-records           in a namespace of your own`,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cmdutil.RunE(o, runF, func(*cobra.Command, []string) error {
			if err := cmdutil.CheckTimeout(o.Timeout); err != nil {
				return err
			}
			return batch.CheckParallel(o.Parallel)
		}),
	}
	deps, flags := f.For(cmd), cmd.Flags()
	o.Provisioner, o.Recorders, o.Limits = deps.Remover, deps.Recorders, deps.Limits
	flags.BoolVarP(&o.AllNamespaces, "all-namespaces", "A", false, "the workspaces of all namespaces")
	flags.BoolVar(&o.Full, "full", false, "compare everything, not only what has changed")
	cmdutil.AddTrustFlag(cmd, &o.TrustRecords)
	batch.AddParallelFlag(cmd, &o.Parallel)
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	return cmd
}

// workTime is how long the work on one workspace may take.
const workTime = 5 * time.Minute

// Run makes one exchange.
func Run(ctx context.Context, o *Options) error {
	begun := time.Now()
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	warned := new(atomic.Bool)
	work, done, err := o.controller(ctx, slog.New(warnings{o.IO, warned}))
	if err != nil {
		return err
	}
	defer done()
	results, err := work.Pass(ctx, o.Full)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	document := result.Reconciliation{Namespaces: o.AllNamespaces}
	document.Seconds = time.Since(begun).Seconds()
	failed := warned.Load()
	for _, r := range results {
		w := item(r)
		document.Items = append(document.Items, w)
		failed = failed || w.Error != nil
	}
	if len(results) == 0 {
		cmdutil.WarnOfNamespace(ctx, o.IO, work.Provisioner.Client, work.Namespace)
	}
	if err := printer.Print(o.IO, o.Output, document); err != nil {
		return err
	}
	if failed {
		return cmdutil.ExitError(fault.Failed.Exit())
	}
	return nil
}

func (o *Options) controller(ctx context.Context, log *slog.Logger) (*controller.Controller, func(), error) {
	p, err := cmdutil.Await(ctx, o.Provisioner)
	if err != nil {
		return nil, nil, err
	}
	limits, err := o.Limits()
	if err != nil {
		return nil, nil, err
	}
	recorders, err := o.Recorders(ctx)
	if err != nil {
		return nil, nil, err
	}
	p.States = recorders.States(p.Client)
	guarded, err := cmdutil.Guarded(p.States, o.TrustRecords)
	if err != nil {
		recorders.Close()
		return nil, nil, err
	}
	c := &controller.Controller{
		Guarded: guarded, Provisioner: p, Namespace: p.Client.Namespace, Limits: limits.For, Workers: o.Parallel,
		Timeout: workTime, Log: log,
		Jobs: recorders.Single,
	}
	if o.AllNamespaces {
		c.Namespace = ""
	}
	return c, recorders.Close, nil
}

// item is what became of a workspace.
func item(r controller.Result) v1.ReconciledWorkspace {
	w := v1.ReconciledWorkspace{
		ID: r.Record.ID, Namespace: r.Record.Namespace, UserString: r.Record.UserString,
		Desired: r.Record.Desired, Actual: r.Record.Actual, Reason: r.Record.Reason, Done: string(r.Did),
	}
	switch {
	case deploy.IsLocked(r.Err): // it is left to the run that works on it
		w.Reason = fault.From(r.Err).Message
	case r.Err != nil:
		w.Error = result.NewError(r.Err)
	}
	if r.Did == controller.Lost {
		w.Done = ""
	}
	return w
}
