// Package cmdutil is what the commands share: the things they work with, common
// flags and arguments, completion, and how a command ends.
package cmdutil

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericclioptions"

	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/identity/provider"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/lifecycle"
	"github.com/berthdev/berth/internal/provision"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/provision/inventory/fleet"
	"github.com/berthdev/berth/internal/provision/inventory/recorded"
	"github.com/berthdev/berth/internal/provision/limit"
	"github.com/berthdev/berth/internal/provision/manifest"
	"github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/volume/nodes"
	"github.com/berthdev/berth/internal/watch/cause"
)

// Factory makes what the commands work with. Everything is made when it is first
// asked for, and once: help needs neither a cluster nor a configuration.
type Factory struct {
	IO     terminal.Streams
	Kube   *genericclioptions.ConfigFlags
	Getenv func(string) string
	// Client is the connection to the cluster. Like all that is made of files, it is
	// asked for with Await.
	Client func() (*kube.Client, error)

	made atomic.Pointer[kube.Client]
}

// Close ends what the connection to the cluster has left behind, if there is one.
func (f *Factory) Close() {
	if client := f.made.Load(); client != nil {
		client.Close()
	}
}

// NewFactory makes a Factory that works with these streams and variables.
func NewFactory(streams terminal.Streams, getenv func(string) string) *Factory {
	f := &Factory{IO: streams, Kube: genericclioptions.NewConfigFlags(true), Getenv: getenv}
	f.Client = sync.OnceValues(func() (*kube.Client, error) {
		defer f.IO.Slowly("the kubeconfig to be read")()
		client, err := kube.NewClient(f.Kube, "berth/"+Version().Version, f.IO.Waiting)
		if err == nil {
			f.made.Store(client)
		}
		return client, err
	})
	return f
}

// Workspaces looks workspaces up for commands that only enter them or list their
// names. It reads no configuration, so that a broken one keeps no user out.
func (f *Factory) Workspaces() (inventory.Reader, error) {
	client, err := f.Client()
	if err != nil {
		return inventory.Reader{}, err
	}
	return reader(client, cause.DefaultPolicy(), inCluster(client)), nil
}

// AddKubeFlags adds kubectl's own flags for reaching a cluster. All of them work;
// those that few need are not shown in the help of every command.
func (f *Factory) AddKubeFlags(flags *pflag.FlagSet) {
	shown := map[string]string{
		"kubeconfig": "the kubeconfig file to use",
		"context":    "the kubeconfig context to use",
		"namespace":  "the namespace to work in (default: that of the context)",
	}
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.Kube.AddFlags(all)
	all.VisitAll(func(flag *pflag.Flag) {
		usage, ok := shown[flag.Name]
		if flag.Hidden = !ok; ok {
			flag.Usage = usage
		}
		flags.AddFlag(flag)
	})
}

// Dependencies are what a command works with that reads the configuration.
type Dependencies struct {
	*Factory
	// Config is the file, the environment and the flags of the command.
	Config func() (config.Config, error)
	// Reload is Config as it is now.
	Reload func() (config.Config, error)
}

// For gives the dependencies of a command; its flags take precedence over the
// configuration.
func (f *Factory) For(cmd *cobra.Command) *Dependencies {
	reload := func() (config.Config, error) { return config.Load(cmd.Flags(), f.Getenv) }
	return &Dependencies{Factory: f, Reload: reload, Config: sync.OnceValues(func() (config.Config, error) {
		defer f.IO.Slowly("the configuration to be read")()
		return reload()
	})}
}

// configured gives the configuration and the connection.
func (d *Dependencies) configured() (c config.Config, client *kube.Client, err error) {
	if c, err = d.Config(); err == nil {
		client, err = d.Client()
	}
	return c, client, err
}

// Inventory reads workspaces under the configured policy.
func (d *Dependencies) Inventory() (inventory.Reader, error) {
	c, client, err := d.configured()
	if err != nil {
		return inventory.Reader{}, err
	}
	r := reader(client, c.Policy, d.States)
	r.Scheme = c.Scheme()
	return r, nil
}

// Identity is the configured chain of identity providers.
func (d *Dependencies) Identity() (identity.Chain, error) {
	c, client, err := d.configured()
	if err != nil {
		return nil, err
	}
	return provider.NewChain(c.Identity, provider.Dependencies{
		Client: client, Self: kube.Self(client.Config), Namespace: client.Namespace, Getenv: d.Getenv,
	})
}

// Provisioner brings workspaces up.
func (d *Dependencies) Provisioner() (*provision.Provisioner, error) {
	p, err := d.Remover()
	if err != nil {
		return nil, err
	}
	c, _ := d.Config()
	chain, err := d.Identity()
	if err != nil {
		return nil, err
	}
	p.Users, p.Repositories = chain, chain
	p.Blueprints = d.Blueprints
	p.DefaultBlueprint, p.DefaultRegistry = c.DefaultBlueprint, c.DefaultRegistry
	p.Variables, p.Remote = variables(c.BlueprintVariables, d.Getenv), c.Repositories.URL
	p.Access = func() (manifest.Access, error) { return access(c, d.Getenv) }
	p.Certificate = certificate(c.Certificate)
	p.InjectNamespaces, p.ControlNamespace, p.APIServer = c.InjectNamespaces, c.ControlNamespace, c.APIServer
	p.Allowance = limit.NewAllowance(c.Limits.WorkspacesPerUser, c.Limits.Workspaces)
	return p, nil
}

// variables are those of the environment that expressions may read: nothing if they are not set.
func variables(names []string, getenv func(string) string) map[string]string {
	all := map[string]string{}
	for _, name := range names {
		all[name] = getenv(name)
	}
	return all
}

// Remover removes workspaces. It needs no user's identity.
func (d *Dependencies) Remover() (*provision.Provisioner, error) {
	reader, err := d.Inventory()
	return &provision.Provisioner{Environment: provision.Environment{Reader: reader}}, err
}

// access reads the passwords that are configured.
func access(c config.Config, getenv func(string) string) (manifest.Access, error) {
	a := manifest.Access{Remote: c.Repositories.URL}
	if c.Registry != nil {
		password, err := c.Registry.Read(getenv)
		if err != nil {
			return a, err
		}
		a.Registry = &registry.Login{Server: c.Registry.Server, Username: c.Registry.Username, Password: password}
	}
	for _, r := range c.Repositories.Credentials {
		password, err := r.Read(getenv)
		if err != nil {
			return a, err
		}
		a.Repositories = append(a.Repositories, manifest.RepositoryAccess{
			URL: r.URL, Username: r.Username, Password: password, InWorkspace: r.InWorkspace,
		})
	}
	return a, nil
}

func certificate(c config.Certificate) *manifest.Certificate {
	if !c.Enabled {
		return nil
	}
	return &manifest.Certificate{IssuerName: c.Issuer.Name, IssuerKind: cmp.Or(c.Issuer.Kind, "ClusterIssuer")}
}

// openStates opens the place where the desired states of workspaces are kept.
type openStates = func(context.Context) (lifecycle.Place, func(), error)

// inCluster is that place where no configuration is read.
func inCluster(client *kube.Client) openStates {
	return func(context.Context) (lifecycle.Place, func(), error) {
		return lifecycle.Place{Client: client}, func() {}, nil
	}
}

// reader reads workspaces under a policy.
func reader(client *kube.Client, policy cause.Policy, states openStates) inventory.Reader {
	r := inventory.Reader{Client: client, Policy: policy, Now: time.Now, Former: provider.Former(client)}
	inner := r
	r.Meant = func(ctx context.Context, namespace, typed string) string {
		ctx, cancel := context.WithTimeout(ctx, CompletionTimeout)
		defer cancel()
		place, done, err := states(ctx)
		if err != nil {
			return ""
		}
		defer done()
		list, _, err := recorded.List(
			ctx, inner.In(namespace), place, lifecycle.Limits{}, fleet.Query{Namespace: namespace}, fleet.Names,
		)
		if err != nil {
			return ""
		}
		var names []string
		for _, w := range list.Items {
			names = append(names, w.UserString, "id/"+w.ID)
		}
		return workspaceMeant(typed, names)
	}
	return r
}

// workspaceMeant is the workspace that is meant by what was typed, which may have left out
// that it is an ID.
func workspaceMeant(typed string, names []string) string {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" || name == typed })
	if near := NearestName(typed, names); near != "" || strings.HasPrefix(typed, "id/") {
		return near
	}
	return NearestName("id/"+typed, names)
}

// Volumes asks the drivers of scratch volumes, which are in a namespace of their own.
func (f *Factory) Volumes(ctx context.Context, namespace string) (nodes.Nodes, error) {
	client, err := Await(ctx, f.Client)
	if err != nil {
		return nodes.Nodes{}, err
	}
	return nodes.Nodes{Client: client.In(namespace), User: kube.Self(client.Config)}, nil
}

// Await gives what f returns, or the reason for the end of the context if that comes
// first: f reads files, which can hang, and takes no context. It is left behind then.
func Await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answers := make(chan answer, 1) // the receiver may be gone
	go func() {
		value, err := f()
		answers <- answer{value, err}
	}()
	select {
	case a := <-answers:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}
