package cmdutil

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/credential"
	"github.com/berthdev/berth/internal/exec"
	"github.com/berthdev/berth/internal/exec/gateway"
	"github.com/berthdev/berth/internal/exec/machine"
	"github.com/berthdev/berth/internal/exec/pod"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/provision/inventory"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/volume/read"
)

// FlagGateway chooses a gateway of the configuration.
const FlagGateway = "gateway"

// AddGatewayFlag adds the flag that chooses a gateway.
func (d *Dependencies) AddGatewayFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVar(
		name, FlagGateway, "", "go through this gateway of the configuration, instead of the API server",
	)
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		c, err := d.Config()
		var names []string
		for _, g := range c.Gateways {
			if err == nil {
				names = append(names, g.Name)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	_ = cmd.RegisterFlagCompletionFunc(FlagGateway, complete)
}

// Gateway gives what runs commands in a workspace, or in machine/NAME, through a gateway of the
// configuration. No cluster is asked.
func (d *Dependencies) Gateway(ctx context.Context, name, target, container string) (exec.Runner, error) {
	through, to, err := d.Through(ctx, name, target, container)
	if err != nil {
		return nil, err
	}
	return through.Runner(to), nil
}

// Through gives a gateway of the configuration, and what is meant by a target there.
func (d *Dependencies) Through(
	ctx context.Context, name, target, container string,
) (g gateway.Gateway, to gateway.Destination, err error) {
	c, err := Await(ctx, d.Config)
	if err != nil {
		return g, to, err
	}
	found, ok := c.Gateway(name)
	if !ok {
		return g, to, fault.New(fault.InvalidArgument, "gateway %q is not in the configuration", name).
			WithHint("name one of its gateways, or add it: see `berth help environment`")
	}
	to.Container = container
	if name, is := strings.CutPrefix(target, machine.Prefix); is {
		to.Machine = name
	} else {
		if to.Workspace, to.Namespace, to.User, err = workspaceThere(target, c.Scheme()); err != nil {
			return g, to, err
		}
	}
	to.Namespace = cmp.Or(to.Namespace, *d.Kube.Namespace, found.Namespace)
	if to.Namespace == "" {
		if to.Namespace, _, err = d.Kube.ToRawKubeConfigLoader().Namespace(); err != nil {
			return g, to, fault.New(fault.InvalidArgument, "the namespace is not known: %w", err).
				WithHint("set --namespace")
		}
	}
	return d.gateway(found), to, nil
}

// workspaceThere is the ID of a workspace at a gateway, which is not asked what a text could
// mean besides, and its namespace and the OS user if the text says so.
func workspaceThere(text string, scheme userstring.Scheme) (id, namespace, user string, err error) {
	arg, err := inventory.ParseArgument(text)
	if err != nil {
		return "", "", "", err
	}
	user = pod.OSUser(text)
	ids := arg.In(scheme).IDs()
	if userstring.LooksLikeID(text) {
		return ids[len(ids)-1], arg.Namespace, user, nil
	}
	return ids[0], arg.Namespace, user, nil
}

// gateway is a gateway with its credential.
func (d *Dependencies) gateway(g config.Gateway) gateway.Gateway {
	own := g.Credential
	made := gateway.Gateway{
		Name: g.Name, URL: g.URL, CAFile: g.CA, CertFile: own.Certificate.Cert, KeyFile: own.Certificate.Key,
	}
	switch {
	case own.TokenFile != "":
		made.Token = &credential.Source{File: own.TokenFile}
	case len(own.Command) > 0:
		made.Token = &credential.Source{Command: credential.Program(own.Command)}
	case own.Kubeconfig:
		made.Kubeconfig = func() (*rest.Config, error) {
			config, err := d.Kube.ToRESTConfig()
			if err != nil {
				return nil, fault.New(fault.InvalidArgument, "kubeconfig: %w", err).
					WithHint("choose a kubeconfig with --kubeconfig or KUBECONFIG, and a context with --context")
			}
			return config, nil
		}
	}
	return made
}

// VolumeReaders gives the drivers of scratch volumes that let users read what their pods have left, which are reached
// as a gateway is: at a URL, or where the configuration says; and the namespace that is meant. Found is false if
// neither says where they are. No API server is asked.
func (d *Dependencies) VolumeReaders(ctx context.Context, url, ca string) (c read.Client, namespace string, found bool,
	err error,
) {
	configured, err := Await(ctx, d.Config)
	if err != nil {
		return c, "", false, err
	}
	v := configured.Volumes
	if url = cmp.Or(url, v.ReadURL); url == "" {
		return c, "", false, nil
	}
	if v.ReadURL == "" {
		v.Credential = config.GatewayCredential{Kubeconfig: true}
	}
	if namespace = *d.Kube.Namespace; namespace == "" {
		if namespace, _, err = d.Kube.ToRawKubeConfigLoader().Namespace(); err != nil {
			return c, "", false, fault.New(fault.InvalidArgument, "the namespace is not known: %w", err).
				WithHint("set --namespace")
		}
	}
	server := d.gateway(config.Gateway{URL: url, CA: cmp.Or(ca, v.ReadCA), Credential: v.Credential})
	return read.Client{URL: url, Config: func(ctx context.Context) (*rest.Config, error) {
		config, err := server.Config(ctx, "the drivers of scratch volumes")
		if err == nil {
			config.UserAgent = "berth/" + Version().Version
		}
		return config, err
	}}, namespace, true, nil
}
