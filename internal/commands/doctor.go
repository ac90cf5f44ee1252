package commands

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/doctor"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity/provider"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/terminal/printer"
)

type doctorOptions struct {
	output  outputFlag
	timeout time.Duration
}

func newDoctor(a *app) *cobra.Command {
	o := &doctorOptions{}
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check cluster, permissions and configuration, and say what to do",
		Long: `Check whether everything is there that workspaces take: the cluster and its
version, the clocks, who you are, the namespace and its quotas, what you may do,
storage, nodes, network policies, the configuration and the blueprints, and NATS
and cert-manager if they are configured; and what killed runs have left. It
changes nothing.

All checks are made side by side. One that you may not make, or that is not
answered in time, is skipped. Without a cluster the local ones are made.

The exit status is 3 if any check failed; warnings do not count.`,
		Example: `  berth doctor
  berth doctor --namespace team
  berth doctor --output jsonpath='{.items[?(@.status=="failed")].message}'`,
		Args:              none,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), a, cmd) },
	}
	o.output.register(cmd, "text", "json", "yaml", "jsonpath=", "go-template=")
	cmd.Flags().DurationVar(&o.timeout, "timeout", 5*time.Second, "how long each check may take")
	addBlueprintFlags(cmd)
	return cmd
}

func (o *doctorOptions) run(ctx context.Context, a *app, cmd *cobra.Command) error {
	if o.timeout <= 0 {
		return usage(cmd, fault.New(fault.InvalidArgument, "--timeout %s is not positive", o.timeout))
	}
	checkup := doctor.Run(ctx, a.checks(cmd), o.timeout)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := printer.Print(a.streams, o.output.format, &checkup); err != nil {
		return err
	}
	if checkup.Failed() {
		return statusError(fault.Failed.Exit())
	}
	return nil
}

// checks are those that can be made with what is configured.
func (a *app) checks(cmd *cobra.Command) []doctor.Check {
	c, configErr := config.Load(cmd.Flags(), os.Getenv)
	client, clientErr := a.client()
	var configured *doctor.Configured
	checks := []doctor.Check{
		found("configuration", configErr, doctor.OK("the configuration is valid: "+config.Where(os.Getenv))),
		found("kubeconfig", clientErr, a.kubeconfig(client)),
	}
	if configErr == nil {
		checks = append(checks, doctor.Check{Name: "blueprints", Look: func(ctx context.Context) (doctor.Finding, error) {
			set, err := loadFrom(ctx, c, client)
			if err != nil {
				return doctor.Finding{}, err
			}
			if !set.Has(c.DefaultBlueprint) {
				return doctor.Failed(fmt.Sprintf("there is no blueprint %q, which is the default", c.DefaultBlueprint),
					"correct defaultBlueprint in the configuration; `berth blueprint list` has those that there are"), nil
			}
			return doctor.OK(fmt.Sprintf("blueprints can be read; %s is the default", c.DefaultBlueprint)), nil
		}})
		configured = configuredFor(c, client)
	}
	if clientErr != nil {
		return checks
	}
	if configErr == nil {
		checks = append(checks, identities(c, client)...)
	}
	return append(checks, doctor.Cluster(client, a.streams.Now, configured)...)
}

// configuredFor is what the checks of the cluster have to know of the
// configuration.
func configuredFor(c config.Config, client *kube.Client) *doctor.Configured {
	return &doctor.Configured{
		Jobs: c.Jobs, Certificates: c.Certificate.Enabled,
		Default: func(ctx context.Context) (blueprint.Blueprint, error) {
			set, err := loadFrom(ctx, c, client)
			if err != nil {
				return blueprint.Blueprint{}, err
			}
			return set.Show(c.DefaultBlueprint, c.DefaultRegistry)
		},
	}
}

// found is a check that has been made already.
func found(name string, err error, finding doctor.Finding) doctor.Check {
	return doctor.Check{Name: name, Look: func(context.Context) (doctor.Finding, error) { return finding, err }}
}

func (a *app) kubeconfig(client *kube.Client) doctor.Finding {
	if client == nil {
		return doctor.Finding{}
	}
	raw, err := a.kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil || raw.CurrentContext == "" {
		return doctor.OK("server " + client.Config.Host + ", namespace " + client.Namespace)
	}
	name := raw.CurrentContext
	if a.kube.Context != nil && *a.kube.Context != "" {
		name = *a.kube.Context
	}
	return doctor.OK(fmt.Sprintf("context %s, server %s, namespace %s", name, client.Config.Host, client.Namespace))
}

// identities are a check for each provider: whether it answers, and whom it
// takes the caller for.
func identities(c config.Config, client *kube.Client) []doctor.Check {
	chain, err := provider.NewChain(c.Identity, provider.Dependencies{Client: client, Self: kube.Self(client.Config), Namespace: client.Namespace, Getenv: os.Getenv})
	if err != nil {
		return []doctor.Check{found("identity", err, doctor.Finding{})}
	}
	checks := make([]doctor.Check, len(chain))
	for i, link := range chain {
		checks[i] = doctor.Check{Name: "identity", Look: func(ctx context.Context) (doctor.Finding, error) {
			caller, err := link.Caller(ctx)
			switch {
			case fault.CodeOf(err) == fault.Unavailable && link.Name != provider.KindKubernetes:
				return doctor.Failed(fault.From(err).Message, fault.From(err).Hint), nil
			case err != nil:
				return doctor.Finding{}, err
			case caller == "":
				return doctor.OK(link.Name + " is configured"), nil
			}
			return doctor.OK(fmt.Sprintf("you are %s (says %s): your workspace is `berth provision %s`", caller, link.Name, caller)), nil
		}}
	}
	return checks
}
