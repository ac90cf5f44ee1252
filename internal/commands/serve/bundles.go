package serve

import (
	"context"
	"net"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/bundle/controller"
	"github.com/berthdev/berth/internal/bundle/server"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/terminal"
)

// systemNamespace is where berth keeps its own objects unless it is told otherwise.
const systemNamespace = "berth-system"

// The flags about who installs, and where content is.
const (
	flagInstaller   = "installer"
	flagBaseURL     = "base-url"
	flagAllowSystem = "allow-system"
)

// Backend does what the role bundles is for.
type Backend interface {
	controller.Reconciler
	server.Store
}

// BackendOptions are what a backend is made of.
type BackendOptions struct {
	Client *kube.Client
	// Namespace is the system namespace.
	Namespace string
	// BaseURL is where others reach the content server; empty if that is not known.
	BaseURL string
	// Trust says which other programs that serve content are sent the token.
	Trust server.Trust
	// RenderTimeout is how long the rendering of a chart may take.
	RenderTimeout time.Duration
	// FetchTimeout is how long fetching a source may take.
	FetchTimeout time.Duration
	// Installer is as what instances are installed that name no ServiceAccount; nil for the client itself.
	Installer *v1alpha1.ServiceAccount
	// AllowSystem lets bundles touch what berth itself runs on.
	AllowSystem bool
}

// BundlesOptions are what the command line says.
type BundlesOptions struct {
	IO      terminal.Streams
	Client  func() (*kube.Client, error)
	Backend func(context.Context, BackendOptions) (Backend, error)

	Serving
	BaseURL, Namespace string
	Trust              server.Trust
	Installer          *v1alpha1.ServiceAccount
	AllowSystem        bool
	Period, Timeout    time.Duration
	Workers            int
	RenderTimeout      time.Duration
	FetchTimeout       time.Duration
}

// NewBundles makes the command `berth serve bundles`.
func NewBundles(f *cmdutil.Factory, backend func(context.Context, BackendOptions) (Backend, error),
	runF func(context.Context, *BundlesOptions) error,
) *cobra.Command {
	o := &BundlesOptions{IO: f.IO, Client: f.Client, Backend: backend}
	cmd := &cobra.Command{
		Use:   "bundles",
		Short: "Reconcile bundles and their instances, and serve the content of bundles",
		Long: `Reconcile the bundles and bundle instances of berth's classes, so that one that is
applied by kubectl or GitOps is installed, and serve the content of bundles to those
who have the ClusterRole bundle-reader.

Of several of these processes one at a time works on the objects of a class; all of
them serve content. While one does, ` + "`berth bundle install`" + ` leaves the work to it.

What bundles contain is rendered, applied, watched and removed as the ServiceAccount
that their instance names, or as that of --installer: this process impersonates it.
Without --installer, which is required in a pod, it is done with the rights of the
kubeconfig, no matter who has written the instance. The system namespace and the definitions,
roles and policies of berth are left alone, unless --allow-system is given.

What instances have installed is watched with the same rights. What somebody deletes or
edits is put back within seconds, and the health of an instance is on it as soon; all
objects are looked at once a --period.

A bundle that another program has unpacked is fetched from that program, with the
token of this process. It is sent to Services of the cluster and to the hosts of
--content-host, and nowhere else.

Health (/healthz, /readyz) and metrics (/metrics) are on a port of their own. Without
a certificate only this host is listened on.`,
		Example: `  berth serve manifests bundles --install-role cluster-admin | kubectl apply --server-side -f -
  berth serve bundles                       on this host, with the kubeconfig`,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              cmdutil.RunE(o, runF, func(*cobra.Command, []string) error { return o.validate() }),
	}
	o.flags(cmd, "content")
	flags := cmd.Flags()
	flags.StringVar(&o.BaseURL, flagBaseURL, "",
		"where content is reached by others, https://HOST[:PORT] (default: bundles have no contentURL)")
	flags.StringVar(&o.Namespace, "system-namespace", systemNamespace,
		"the namespace of records, uploads, logins and leases")
	cmdutil.AddServiceAccountFlag(cmd, &o.Installer, flagInstaller,
		"the ServiceAccount as which instances are installed that name none (default: with the rights "+
			"of the kubeconfig)")
	flags.BoolVar(&o.AllowSystem, flagAllowSystem, false,
		"let bundles touch the system namespace, and berth's definitions, roles and policies, as far as the rights of "+
			"the installer go")
	cmdutil.AddContentFlags(cmd, &o.Trust)
	cmdutil.AddRenderFlag(cmd, &o.RenderTimeout)
	cmdutil.AddFetchFlag(cmd, &o.FetchTimeout)
	addPeriodFlag(cmd, &o.Period, "how often all objects are looked at, beside those that change")
	flags.DurationVar(&o.Timeout, "timeout", 30*time.Minute, "how long the work on one object may take")
	flags.IntVar(&o.Workers, "workers", 4, "how many objects of a class are worked on at once")
	return cmd
}

// The flag of the period, and how long that is unless it is given.
const (
	flagPeriod    = "period"
	defaultPeriod = 10 * time.Minute
)

func addPeriodFlag(cmd *cobra.Command, period *time.Duration, usage string) {
	cmd.Flags().DurationVar(period, flagPeriod, defaultPeriod, usage)
}

func checkPeriod(period time.Duration) error {
	if period <= 0 {
		return invalid("--%s must be positive, got %s", flagPeriod, period)
	}
	return nil
}

func (o *BundlesOptions) validate() error {
	switch {
	case o.Timeout <= 0:
		return invalid("--timeout must be positive, got %s", o.Timeout)
	case o.Workers < 1:
		return invalid("--workers must be at least 1, got %d", o.Workers)
	case o.Namespace == "":
		return invalid("--system-namespace must not be empty")
	}
	if base, err := url.Parse(o.BaseURL); o.BaseURL != "" &&
		(err != nil || base.Scheme != "https" || base.Host == "" || base.User != nil || base.RawQuery != "" ||
			base.Path != "" && base.Path != "/") {
		return invalid("--base-url must be https://HOST[:PORT], got %q", o.BaseURL)
	}
	for _, err := range []error{
		checkPeriod(o.Period), o.About.validate(), cmdutil.CheckRender(o.RenderTimeout),
		cmdutil.CheckFetch(o.FetchTimeout),
	} {
		if err != nil {
			return err
		}
	}
	return o.Trust.Check()
}

// Bundles serves until it is told to stop.
func Bundles(ctx context.Context, o *BundlesOptions) error {
	client, err := cmdutil.Await(ctx, o.Client)
	if err != nil {
		return err
	}
	if o.Installer == nil && client.InPod() {
		return fault.New(fault.InvalidArgument,
			"--%s is required in a pod: bundles would be installed with the rights of the server itself",
			flagInstaller).
			WithHint("apply what `berth serve manifests bundles` prints: it has the ServiceAccount for that")
	}
	backend, err := o.Backend(ctx, BackendOptions{
		Client: client, Namespace: o.Namespace, BaseURL: o.BaseURL, Trust: o.Trust, Installer: o.Installer,
		AllowSystem:   o.AllowSystem,
		RenderTimeout: o.RenderTimeout, FetchTimeout: o.FetchTimeout,
	})
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		return fault.New(fault.Internal, "the name of this host: %w", err)
	}
	log := serve.NewLog(o.IO.Err, o.IO.Err.TTY, 0)
	if o.Installer == nil {
		log.Warn("instances are installed with the rights of the kubeconfig, no matter who has written them: name a " +
			"ServiceAccount with --" + flagInstaller)
	}
	metrics, health, limits := serve.NewMetrics(), &serve.Health{}, serve.NewLimiter(serve.DefaultLimits(), time.Now)
	work := &controller.Controller{
		Client: client.Dynamic, Reconciler: backend, Classes: classes(),
		Workers: o.Workers, Period: o.Period, Timeout: o.Timeout, Log: log,
	}
	guard := &serve.Guard{
		Authenticator: authenticator(ctx, client, serve.DefaultLimits()),
		Authorizer:    serve.NewAuthorizer(client.AuthorizationV1(), time.Now),
		Limits:        limits, Log: log, Now: time.Now,
	}
	return serve.Role(serve.WithLog(ctx, log), serve.Config{
		Listen: o.Listen, MetricsListen: o.MetricsListen, Cert: o.Cert, Key: o.Key,
		Handler: server.Handler(backend, guard), Health: health, Metrics: metrics,
		Log: log, Now: time.Now, Timeouts: serve.DefaultTimeouts(),
		Listening: func(role, _ net.Addr) {
			if o.BaseURL == "" {
				log.Warn("bundles have no contentURL, as --" + flagBaseURL + " is not given: " +
					reached(role, host, o.Cert != ""))
			}
		},
	}, func(ctx context.Context) error {
		work.Run(ctx, controller.Election{
			Leases: client.CoordinationV1(), Namespace: o.Namespace, Identity: serve.Identity(host), Metrics: metrics,
			Health: health,
		})
		return nil
	})
}

// reached says where the content is that no bundle says the place of.
func reached(at net.Addr, host string, secured bool) string {
	name, port, err := net.SplitHostPort(at.String())
	switch ip := net.ParseIP(name); {
	case err != nil || ip == nil:
		return "nobody reaches it"
	case !secured:
		return "content is served to this host alone, at " + server.URL("http://"+at.String(), "BUNDLE")
	case ip.IsLoopback():
		return "content is served to this host alone, at " + server.URL("https://"+at.String(), "BUNDLE")
	case ip.IsUnspecified():
		name = host
	}
	return "content is served at " + server.URL("https://"+net.JoinHostPort(name, port), "BUNDLE")
}

func classes() []string {
	return []string{v1alpha1.ClassPlain, v1alpha1.ClassHelm, v1alpha1.ClassRegistry}
}

// authenticator asks the API server of a client whose tokens it is sent.
func authenticator(ctx context.Context, client *kube.Client, limits serve.Limits) *serve.Authenticator {
	get := func(ctx context.Context, path string) ([]byte, error) {
		// Keys have a type of their own, and are refused to a client that takes only JSON.
		return client.Discovery().RESTClient().Get().AbsPath(path).
			SetHeader("Accept", "application/jwk-set+json, application/json").DoRaw(ctx)
	}
	return serve.NewAuthenticator(client.AuthenticationV1(), limits, time.Now).Verifying(ctx, get)
}
