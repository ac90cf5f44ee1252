package serve

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/exec/gateway/server"
	"github.com/berthdev/berth/internal/exec/iri"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/terminal"
)

// GatewayOptions are what the command line says.
type GatewayOptions struct {
	IO     terminal.Streams
	Client func() (*kube.Client, error)

	Serving
	Capacity
	Machines
	ClientCA     string // a file
	StreamListen string
	AllowedFor   time.Duration
}

// NewGateway makes the command `berth serve gateway`.
func NewGateway(f *cmdutil.Factory, runF func(context.Context, *GatewayOptions) error) *cobra.Command {
	o := &GatewayOptions{IO: f.IO, Client: f.Client}
	cmd := &cobra.Command{
		Use:   "gateway",
		Short: "Let users without a kubeconfig into workspaces and machines",
		Long: `Let users into workspaces with the permissions of this process, after the API server
has said who they are and that they may. It takes no permission on pods:

  workspaces  verb create on workspaces/exec of the group berth.dev, for that workspace
              in that namespace
  machines    verb get (WebSockets) or create (SPDY) on machinepools/proxy of the group
              compute.ironcore.dev, for the pool of --machine-pool

A token identifies them, or a client certificate of --client-ca: its common
name is the user, its organizations are the groups, as at an API server.

The resource workspaces/exec exists in Roles alone, to be asked about. A session ends
soon after the time of --allowed-for from when the permission was taken away: it is asked
for again at intervals of a tenth of that, 30 seconds at most.

With --machine-pool, it is the poollet of that pool, which the API server of machines
connects to; that one has a certificate of --client-ca, and is the user of its common
name. The kubeconfig reads the machines there, which have to be in the pool. They run as
machines of the API server of --target-kubeconfig, in --target-namespace or in the
namespace of the same name: each under the ID that its status.machineID has, with a label
that has its UID. With --iri-endpoint they run at a machine runtime of this host instead,
which is asked for a URL of each session by the machine runtime interface.

With --report-pool it is the only poollet of the pool: it keeps the status of the
machine pool (state, addresses, port, classes, capacity, allocatable and the condition
Ready) and renews its lease in the namespace ironcore-machinepool-lease, so that
machines are scheduled there. Of several gateways one does; none does while another
program holds that lease.

Each session leaves an audit line at its end; what is typed is never written down.
Health (/healthz, /readyz) and metrics (/metrics) are on a port of their own. Without a
certificate only this host is listened on.`,
		Example: `  berth serve manifests gateway --host berth.example.com | kubectl apply --server-side -f -
  berth serve gateway                       on this host, with the kubeconfig`,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cmdutil.RunE(o, runF, func(*cobra.Command, []string) error { return o.validate() }),
	}
	o.Serving.flags(cmd, "users")
	flags := cmd.Flags()
	flags.StringVar(&o.StreamListen, "stream-listen", "127.0.0.1:0",
		"the loopback address of the URLs that stand for one session each")
	flags.StringVar(&o.ClientCA, serve.FlagClientCA, "",
		"the file of the authorities of client certificates (default: only tokens are taken)")
	flags.DurationVar(&o.AllowedFor, "allowed-for", serve.DefaultAllowedFor,
		"how long a permission that was granted is believed")
	o.Capacity.flags(cmd)
	o.Machines.flags(cmd)
	return cmd
}

func (o *GatewayOptions) validate() error {
	switch {
	case o.ClientCA != "" && o.Cert == "":
		return invalid("--%s requires --tls-cert: there are no client certificates without TLS", serve.FlagClientCA)
	case o.AllowedFor < time.Second:
		return invalid("--allowed-for must be at least 1s, got %s", o.AllowedFor)
	}
	for _, check := range []func() error{o.Capacity.validate, o.Machines.validate} {
		if err := check(); err != nil {
			return err
		}
	}
	return o.About.validate()
}

// Gateway serves until it is told to stop.
func Gateway(ctx context.Context, o *GatewayOptions) error {
	client, err := cmdutil.Await(ctx, o.Client)
	if err != nil {
		return err
	}
	log := serve.NewLog(o.IO.Err, o.IO.Err.TTY, 0)
	backends, err := o.backends(client, log) //nolint:contextcheck // connections made ahead are nobody's yet
	if err != nil {
		return err
	}
	health := &serve.Health{}
	elsewhere, err := o.elsewhere(client, health, log)
	if err != nil {
		return err
	}
	streams, err := serve.ListenLoopback(ctx, o.StreamListen, "--stream-listen")
	if err != nil {
		return err
	}
	authorities, err := clientCA(o.ClientCA, log)
	if err != nil {
		return err
	}
	metrics, limits := serve.NewMetrics(), serve.NewLimiter(o.limits(), time.Now)
	timeouts := serve.DefaultTimeouts()
	timeouts.Total = 0 // a session takes as long as it takes
	gateway := &server.Server{
		Guard: &serve.Guard{
			Authenticator: authenticator(ctx, client, o.limits()),
			Authorizer:    serve.NewAuthorizer(client.AuthorizationV1(), time.Now).For(o.AllowedFor),
			ClientCA:      authorities, Limits: limits, Log: log, Now: time.Now,
		},
		Metrics: metrics, Health: health, Log: log, Now: time.Now, Timeouts: server.DefaultTimeouts(o.AllowedFor),
		Backends: backends, Elsewhere: elsewhere, Silent: serve.Silent, Pool: o.MachinePool, MaxSessions: o.Sessions,
	}
	report, err := o.reporter(client, log)
	if err != nil {
		return err
	}
	debug.SetGCPercent(collectAt)
	base := &url.URL{Scheme: "http", Host: streams.Addr().String()}
	return serve.Role(serve.WithLog(ctx, log), serve.Config{
		Listen: o.Listen, MetricsListen: o.MetricsListen, Cert: o.Cert, Key: o.Key,
		ClientCertificates: authorities != nil,
		Handler:            gateway.Handler(base), Health: health, Metrics: metrics,
		Log: log, Now: time.Now, Timeouts: timeouts,
	}, func(ctx context.Context) error {
		return report.beside(ctx, metrics, func(ctx context.Context) error { return gateway.Work(ctx, streams) })
	})
}

// collectAt is after how many percent of growth garbage is collected: what is kept of an idle session is small, and the
// headroom of the default is as large again. While bytes flow, little is allocated.
const collectAt = 40

// clientCA are the authorities of client certificates in a file; nil without one.
func clientCA(file string, log *slog.Logger) (*serve.ClientCA, error) {
	if file == "" {
		return nil, nil //nolint:nilnil // tokens only
	}
	return serve.NewClientCA(file, time.Now, func(err error) {
		log.Error("the authorities of clients have changed and cannot be used",
			slog.String("error", fault.Line(err.Error())))
	})
}

// limits leave room for requests that are refused beside as many sessions as there may be.
func (o *GatewayOptions) limits() serve.Limits {
	limits := serve.DefaultLimits()
	limits.Open += o.Sessions
	limits.OpenPerCaller = o.SessionsPerUser
	return limits
}

// backends are what can be entered.
func (o *GatewayOptions) backends(client *kube.Client, log *slog.Logger) (map[server.Kind]server.Backend, error) {
	all := map[server.Kind]server.Backend{server.Workspace: server.Pods(client, log)}
	if o.TargetKubeconfig == "" {
		return all, nil
	}
	flags := genericclioptions.NewConfigFlags(true)
	flags.KubeConfig = &o.TargetKubeconfig
	target, err := kube.NewClient(flags, "berth/"+cmdutil.Version().Version, nil)
	if err != nil {
		return nil, err
	}
	all[server.Machine] = server.Machines(machine.InCluster(client), target,
		server.Consoles{Pool: o.MachinePool, Namespace: o.MachineNamespace, There: o.TargetNamespace}, log)
	return all, nil
}

// elsewhere is what can be entered at a machine runtime, without which the gateway is not ready.
func (o *GatewayOptions) elsewhere(client *kube.Client, health *serve.Health, log *slog.Logger) (
	map[server.Kind]server.Elsewhere, error,
) {
	if o.Endpoint == "" {
		return nil, nil //nolint:nilnil // nothing is there
	}
	socket, err := iri.Socket(o.Endpoint)
	if err != nil {
		return nil, err
	}
	runtime, err := iri.New(socket)
	if err != nil {
		return nil, err
	}
	health.Check("machine runtime", runtime.Ready)
	return map[server.Kind]server.Elsewhere{server.Machine: server.AtRuntime(machine.InCluster(client), runtime,
		server.Consoles{Pool: o.MachinePool, Namespace: o.MachineNamespace}, log)}, nil
}

// Capacity is how many sessions a gateway has open at once: in all, and of one user.
type Capacity struct{ Sessions, SessionsPerUser int }

// DefaultCapacity is that of a gateway that is told nothing else.
func DefaultCapacity() Capacity { return Capacity{Sessions: 500, SessionsPerUser: 50} }

const (
	flagSessions        = "max-sessions"
	flagSessionsPerUser = "max-sessions-per-user"
)

func (c *Capacity) flags(cmd *cobra.Command) {
	flags, most := cmd.Flags(), DefaultCapacity()
	flags.IntVar(&c.Sessions, flagSessions, most.Sessions,
		"how many sessions of each pod are open at once; an idle one takes a quarter of a MiB")
	flags.IntVar(&c.SessionsPerUser, flagSessionsPerUser, most.SessionsPerUser, "how many of them one user has")
}

func (c *Capacity) validate() error {
	switch {
	case c.Sessions < 1:
		return invalid("--%s must be at least 1, got %d", flagSessions, c.Sessions)
	case c.SessionsPerUser < 1:
		return invalid("--%s must be at least 1, got %d", flagSessionsPerUser, c.SessionsPerUser)
	case c.SessionsPerUser > c.Sessions && c.SessionsPerUser != DefaultCapacity().SessionsPerUser:
		return invalid("--%s is %d, more than the %d of --%s", flagSessionsPerUser,
			c.SessionsPerUser, c.Sessions, flagSessions)
	}
	return nil
}

// arguments are those of a gateway, without what is the default.
func (c *Capacity) arguments() (all []string) {
	most := DefaultCapacity()
	if c.Sessions != most.Sessions {
		all = append(all, fmt.Sprintf("--%s=%d", flagSessions, c.Sessions))
	}
	if c.SessionsPerUser != most.SessionsPerUser {
		all = append(all, fmt.Sprintf("--%s=%d", flagSessionsPerUser, c.SessionsPerUser))
	}
	return all
}

// Machines are the options of a gateway about the machines that it serves.
type Machines struct {
	MachinePool, MachineNamespace     string
	TargetKubeconfig, TargetNamespace string
	Endpoint                          string // of a machine runtime
	Reporting
}

// The names of the flags.
const (
	flagMachinePool      = "machine-pool"
	flagMachineNamespace = "machine-namespace"
	flagTargetKubeconfig = "target-kubeconfig"
	flagTargetNamespace  = "target-namespace"
	flagEndpoint         = "iri-endpoint"
)

func (m *Machines) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&m.MachinePool, flagMachinePool, "", "the pool whose machines are served (default: none)")
	flags.StringVar(&m.TargetKubeconfig, flagTargetKubeconfig, "",
		"the kubeconfig of the API server that has the machines")
	flags.StringVar(&m.TargetNamespace, flagTargetNamespace, "",
		"the namespace there in which the machines of the pool run (default: that of each machine)")
	flags.StringVar(&m.Endpoint, flagEndpoint, "",
		"the socket of the machine runtime that has the machines, as unix:///PATH, in place of --target-kubeconfig")
	flags.StringVar(&m.MachineNamespace, flagMachineNamespace, "",
		"the only namespace whose machines are served (default: all)")
	m.Reporting.flags(cmd)
}

func (m *Machines) validate() error {
	switch {
	case m.Endpoint != "" && (m.TargetKubeconfig != "" || m.TargetNamespace != ""):
		return invalid("--%s and --%s are given together: machines run at one of them", flagEndpoint,
			flagTargetKubeconfig)
	case m.MachinePool != "" && m.Endpoint == "" && m.TargetKubeconfig == "",
		m.MachinePool == "" && m.TargetKubeconfig != "":
		return invalid("--machine-pool and --target-kubeconfig are given together")
	case m.MachinePool == "":
		return m.withoutPool()
	case len(validation.IsDNS1123Subdomain(m.MachinePool)) > 0:
		return invalid("--machine-pool must be the name of a machine pool, got %q", m.MachinePool)
	case m.TargetNamespace != "" && len(validation.IsDNS1123Label(m.TargetNamespace)) > 0:
		return invalid("--target-namespace must be the name of a namespace, got %q", m.TargetNamespace)
	case m.MachineNamespace != "" && len(validation.IsDNS1123Label(m.MachineNamespace)) > 0:
		return invalid("--machine-namespace must be the name of a namespace, got %q", m.MachineNamespace)
	case m.Endpoint != "":
		if _, err := iri.Socket(m.Endpoint); err != nil {
			return invalid("--%s %w", flagEndpoint, err)
		}
	}
	return m.Reporting.validate()
}

// withoutPool refuses what is about a machine pool where there is none.
func (m *Machines) withoutPool() error {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{flagEndpoint, m.Endpoint != ""},
		{flagTargetNamespace, m.TargetNamespace != ""},
		{flagMachineNamespace, m.MachineNamespace != ""},
		{flagReportPool, m.ReportPool},
	} {
		if flag.given {
			return invalid("--%s requires --%s", flag.name, flagMachinePool)
		}
	}
	return m.Reporting.validate()
}

// arguments are those of a gateway that finds the kubeconfig in a file of its own.
func (m *Machines) arguments(kubeconfig string) []string {
	all := []string{"--" + flagMachinePool + "=" + m.MachinePool}
	if m.Endpoint != "" {
		all = append(all, "--"+flagEndpoint+"="+m.Endpoint)
	} else {
		all = append(all, "--"+flagTargetKubeconfig+"="+kubeconfig)
	}
	if m.TargetNamespace != "" {
		all = append(all, "--"+flagTargetNamespace+"="+m.TargetNamespace)
	}
	if m.MachineNamespace != "" {
		all = append(all, "--"+flagMachineNamespace+"="+m.MachineNamespace)
	}
	return all
}
