package serve

import (
	"context"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/controller"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/terminal"
)

// roleWorkspaces is the role that keeps workspaces in their desired state.
const roleWorkspaces = "workspaces"

// WorkspacesOptions are what the command line says.
type WorkspacesOptions struct {
	IO          terminal.Streams
	Provisioner func() (*provision.Provisioner, error)
	Recorders   func(context.Context) (*cmdutil.Recorders, error)
	// Limits reads those of the configuration again.
	Limits func() (lifecycle.Limits, error)

	About
	Only          string // a namespace; empty for all
	System        string
	Partial, Full time.Duration
	Timeout       time.Duration
	Workers       int
	TrustRecords  bool
}

// NewWorkspaces makes the command `berth serve workspaces`.
func NewWorkspaces(f *cmdutil.Factory, runF func(context.Context, *WorkspacesOptions) error) *cobra.Command {
	o := &WorkspacesOptions{IO: f.IO}
	cmd := &cobra.Command{
		Use:   roleWorkspaces,
		Short: "Keep workspaces in their desired state",
		Long: `Keep the workspaces of the cluster in their desired state: what "berth stop", "start",
"restart" and "delete" have recorded is completed if they were interrupted, a workspace
whose pod is gone, or over, is started again with any storage it has (after a drain, an
eviction or the end of its node), and what a limit says is done ("limits" in blueprints and
in the configuration). A pod that is over again right after that is left for longer each time, up
to five minutes.

Every --partial, what has changed is compared; every --full, at the start, and when the
limits of the configuration change, everything. Workspaces that have no record get one:
their desired state is the observed one, and Running if their pods are gone, as a stop is
recorded. Of several of these processes one at a time works.

What is recorded is done only if its author could do it, too: an admission policy of the
cluster, which "berth serve manifests workspaces" prints, sees to that, and without it
nothing is done. With --trust-records whatever is recorded is done, by anybody who may
write ConfigMaps, Secrets or the bucket of NATS; the storage of workspaces is then never
deleted.

Health (/healthz, /readyz) and metrics (/metrics) are on a port of their own. Without
a certificate only this host is listened on. What is done is logged with "msg":"audit".`,
		Example: `  berth serve manifests workspaces | kubectl apply --server-side -f -
  berth serve workspaces                    on this host, with the kubeconfig`,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cmdutil.RunE(o, runF, func(*cobra.Command, []string) error { return o.validate() }),
	}
	deps := f.For(cmd)
	o.Provisioner, o.Recorders, o.Limits = deps.Remover, deps.Recorders, deps.LimitsNow
	o.flags(cmd)
	flags := cmd.Flags()
	flags.StringVar(&o.Only, flagOnly, "", "keep the workspaces of this namespace alone")
	flags.StringVar(&o.System, "system-namespace", systemNamespace, "the namespace of the lease")
	flags.DurationVar(&o.Partial, "partial", 10*time.Second, "how often what has changed is compared")
	flags.DurationVar(&o.Full, "full", time.Hour, "how often everything is compared")
	flags.DurationVar(&o.Timeout, "timeout", 5*time.Minute, "how long the work on one workspace may take")
	flags.IntVar(&o.Workers, "workers", 8, "how many workspaces are worked on at once")
	cmdutil.AddTrustFlag(cmd, &o.TrustRecords)
	cmdutil.NoFlagValues(cmd, flagOnly, "system-namespace")
	return cmd
}

func (o *WorkspacesOptions) validate() error {
	switch {
	case o.Partial <= 0:
		return invalid("--partial must be positive, got %s", o.Partial)
	case o.Full < o.Partial:
		return invalid("--full must not be shorter than --partial (%s), got %s", o.Partial, o.Full)
	case o.Timeout <= 0:
		return invalid("--timeout must be positive, got %s", o.Timeout)
	case o.Workers < 1:
		return invalid("--workers must be at least 1, got %d", o.Workers)
	case o.Only != "" && len(validation.IsDNS1123Label(o.Only)) > 0:
		return invalid("--%s must be the name of a namespace, got %q", flagOnly, o.Only)
	case o.System == "":
		return invalid("--system-namespace must not be empty")
	}
	return o.About.validate()
}

// Workspaces keeps them until ctx ends.
func Workspaces(ctx context.Context, o *WorkspacesOptions) error {
	p, err := cmdutil.Await(ctx, o.Provisioner)
	if err != nil {
		return err
	}
	recorders, err := o.Recorders(ctx)
	if err != nil {
		return err
	}
	defer recorders.Close()
	p.States = recorders.States(p.Client)
	host, err := os.Hostname()
	if err != nil {
		return fault.New(fault.Internal, "the name of this host: %w", err)
	}
	log := serve.NewLog(o.IO.Err, o.IO.Err.TTY, 0)
	limits, err := newLimits(o.Limits, log)
	if err != nil {
		return err
	}
	guarded, err := cmdutil.Guarded(p.States, o.TrustRecords)
	if err != nil {
		return err
	}
	metrics, health := serve.NewMetrics(), &serve.Health{}
	work := &controller.Controller{
		Provisioner: p, Namespace: o.Only, Limits: limits.of, Changed: limits.changed, Workers: o.Workers,
		Timeout: o.Timeout,
		Partial: o.Partial, Full: o.Full, Log: log, Guarded: guarded, Jobs: recorders.Single,
		Done: func(did controller.Action, took time.Duration, err error) { metrics.Reconciled(string(did), took, err) },
	}
	return serve.Role(serve.WithLog(ctx, log), serve.Config{
		MetricsListen: o.MetricsListen, Cert: o.Cert, Key: o.Key, Health: health, Metrics: metrics,
		Log: log, Now: time.Now, Timeouts: serve.DefaultTimeouts(),
	}, func(ctx context.Context) error {
		o.lead(ctx, work, serve.Identity(host), metrics, health)
		return nil
	})
}

// lead works whenever this process is the leader, until ctx ends.
func (o *WorkspacesOptions) lead(ctx context.Context, work *controller.Controller, identity string,
	metrics *serve.Metrics, health *serve.Health,
) {
	var known atomic.Bool
	known.Store(true)
	health.Check(roleWorkspaces, func(ctx context.Context) error {
		if !known.Load() {
			return fault.New(fault.Unavailable, "workspaces and their records are not listed yet")
		}
		if work.Guarded != nil {
			return work.Guarded(ctx)
		}
		return nil
	})
	election := serve.Election{
		Leases: work.Provisioner.Client.CoordinationV1(), Namespace: o.System, Name: serve.LeaseName(o.class()),
		Identity: identity, Log: work.Log,
		Leading: func(leads bool) {
			known.Store(!leads)
			metrics.Leading(o.class(), leads)
			work.Log.Info("leadership", slog.Bool("leads", leads))
		},
	}
	election.Lead(ctx, func(ctx context.Context) error {
		if work.Guarded == nil {
			work.Log.Warn("whatever is recorded is done, also for those who may not do it themselves; storage is kept")
		}
		work.Run(ctx, func() { known.Store(true) })
		return nil
	})
}

// class is what there is one leader of: the workspaces of all namespaces, or of one.
func (o *WorkspacesOptions) class() string {
	if o.Only != "" {
		return roleWorkspaces + "-" + o.Only
	}
	return roleWorkspaces
}

// limits are those of the configuration, which may change. They are used by one goroutine.
type limits struct {
	read func() (lifecycle.Limits, error)
	log  *slog.Logger
	now  lifecycle.Limits
}

// newLimits reads the limits, which have to be readable at first.
func newLimits(read func() (lifecycle.Limits, error), log *slog.Logger) (l *limits, err error) {
	l = &limits{read: read, log: log}
	l.now, err = read()
	return l, err
}

// of are the limits of a workspace.
func (l *limits) of(r lifecycle.Record) lifecycle.Limits { return l.now.For(r) }

// changed reads the configuration again. One that cannot be read changes nothing.
func (l *limits) changed() bool {
	before := l.now
	now, err := l.read()
	if err != nil {
		l.log.Warn("the configuration cannot be read; the limits stay as they are",
			slog.String("error", fault.Line(err.Error())))
		return false
	}
	l.now = now
	return now != before
}
