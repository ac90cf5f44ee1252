package bundle

import (
	"context"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/bundle/controller"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/reconcile"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/terminal/result/bundle"
)

// kinds are those of a pass; empty for both.
type kinds string

const (
	onlyBundles   kinds = "bundles"
	onlyInstances kinds = "instances"
)

func (k kinds) names() []string {
	switch k {
	case onlyBundles:
		return []string{v1alpha1.KindBundle}
	case onlyInstances:
		return []string{v1alpha1.KindInstance}
	}
	return []string{v1alpha1.KindBundle, v1alpha1.KindInstance}
}

// NewReconcile makes `berth bundle reconcile`.
func NewReconcile(f *cmdutil.Factory, runF func(context.Context, *ClusterOptions) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Work once on every bundle and instance",
		Long: `Make one pass over all Bundles and BundleInstances of berth's classes: unpack what is
not unpacked, install and upgrade, put right what others have changed, look at the
health, and clean up. It is what "berth serve bundles" does all the time.

A bundle that another program has unpacked is fetched from that program, with your
token. The token is sent to Services of the cluster and to the hosts of
--content-host, and nowhere else.

What instances install is installed with your rights, no matter who has written them, unless
they name a ServiceAccount or --service-account does.

The exit status is 3 if any of them failed; why is on the objects, too.`,
		Example: `  berth bundle reconcile
  berth bundle reconcile --only bundles`,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	o := newCluster(f, cmd, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	o.Open = f.For(cmd).VerifiedBundles
	cmdutil.EnumVar(cmd, &o.Only, "only", "work on these alone", onlyBundles, onlyInstances)
	o.addServiceAccountFlag(cmd)
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmdutil.AddContentFlags(cmd, &o.Trust)
	cmdutil.AddRenderFlag(cmd, &o.RenderTimeout)
	cmdutil.AddFetchFlag(cmd, &o.FetchTimeout)
	cmd.RunE = cmdutil.RunE(o, runF, func(*cobra.Command, []string) error {
		if err := cmdutil.CheckTimeout(o.Timeout); err != nil {
			return err
		}
		for _, err := range []error{cmdutil.CheckRender(o.RenderTimeout), cmdutil.CheckFetch(o.FetchTimeout)} {
			if err != nil {
				return err
			}
		}
		return o.Trust.Check()
	})
	return cmd
}

// objectTime is how long the work on one object of a pass may take.
const objectTime = 5 * time.Minute

// Reconcile makes one pass.
func Reconcile(ctx context.Context, o *ClusterOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	r, err := o.open(ctx)
	if err != nil {
		return err
	}
	r.Trust, r.RenderTime, r.Fetcher.Time = o.Trust, o.RenderTimeout, o.FetchTimeout
	begun := time.Now()
	c := controller.Controller{
		Client: r.Own.Dynamic, Reconciler: instance.NewBackend(r), Classes: v1alpha1.Classes(),
		Workers: 1, Timeout: objectTime, Log: slog.New(slog.DiscardHandler),
	}
	results, err := c.Pass(ctx, o.Only.names(), func(reconcile.Result[controller.Key]) {})
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	d, failed := v1.BundleReconciliation{Seconds: time.Since(begun).Seconds()}, false
	for _, res := range results {
		item := v1.ReconciledObject{Object: kube.Object(res.Key.Kind, res.Key.Name)}
		if res.Err != nil {
			item.Error, failed = result.NewError(res.Err), true
		}
		d.Items = append(d.Items, item)
	}
	if err := printer.Print(o.IO, o.Output, bundle.Reconciliation{BundleReconciliation: d}); err != nil {
		return err
	}
	if failed {
		return cmdutil.ExitError(fault.Failed.Exit())
	}
	return nil
}
