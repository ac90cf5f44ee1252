// Package doctor is the command `berth doctor`.
package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/doctor"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/identity/provider"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
	"github.com/berthdev/berth/internal/userstring"
)

// Options are what the command line says.
type Options struct {
	*cmdutil.Dependencies

	Timeout time.Duration // of each check
	Output  printer.Format
}

// NewCmd makes the command.
func NewCmd(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	o := &Options{}
	cmd := &cobra.Command{
		Use:        "doctor",
		SuggestFor: []string{"check"},
		Short:      "Check cluster, permissions and configuration, and say what to do",
		Long: `Check everything that workspaces require: the cluster and its version, the clocks,
who you are, the namespace and its quotas, your permissions, storage, nodes, network
policies, the configuration and the blueprints, NATS and cert-manager if they are
configured, and what killed runs have left behind. Nothing is changed.

All checks run side by side. A check that you are not permitted to make, or that is
not answered in time, is skipped. Without a cluster, only the local checks run.

The exit status is 3 if any check failed; warnings do not count.`,
		Example: `  berth doctor
  berth doctor --namespace team
  berth doctor --output jsonpath='{.items[?(@.status=="failed")].message}'`,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: cmdutil.RunE(o, runF, func(*cobra.Command, []string) error {
			return o.validate()
		}),
	}
	o.Dependencies = f.For(cmd)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "jsonpath=", "go-template=")
	cmd.Flags().DurationVar(&o.Timeout, "timeout", 5*time.Second, "how long each check may take")
	cmdutil.AddBlueprintFlags(cmd)
	return cmd
}

func (o *Options) validate() error {
	if o.Timeout <= 0 {
		return fault.New(fault.InvalidArgument, "--timeout must be positive, got %s", o.Timeout)
	}
	return nil
}

// Run prints what the checks find.
func Run(ctx context.Context, o *Options) error {
	reading, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	checks, err := cmdutil.Await(reading, func() ([]doctor.Check, error) { return o.checks(), nil })
	if err != nil {
		return err
	}
	checkup := doctor.Run(ctx, checks, o.Timeout)
	if err := context.Cause(ctx); err != nil {
		return err
	}
	if err := printer.Print(o.IO, o.Output, result.Checkup{Checkup: checkup}); err != nil {
		return err
	}
	if checkup.Failed() {
		return cmdutil.ExitError(fault.Failed.Exit())
	}
	return nil
}

// checks are those that can be made with what is configured. What is wrong with that
// is found by a check, too.
func (o *Options) checks() []doctor.Check {
	c, configErr := o.Config()
	client, clientErr := o.Client()
	checks := []doctor.Check{
		done("configuration", configErr, doctor.OK("the configuration is valid: "+config.Where(o.Getenv))),
		done("kubeconfig", clientErr, o.kubeconfig(client)),
	}
	var configured *doctor.Configured
	if configErr == nil {
		checks = append(checks, doctor.Check{Name: "blueprints", Look: o.blueprints})
		configured = &doctor.Configured{Jobs: c.Jobs, Certificates: c.Certificate.Enabled, Default: o.defaultBlueprint}
	}
	if clientErr != nil {
		return checks
	}
	if configErr == nil {
		checks = append(checks, o.identities(client.Namespace)...)
	}
	return append(checks, doctor.Cluster(client, o.IO.Now, configured)...)
}

// done is a check that has been made already.
func done(name string, err error, finding doctor.Finding) doctor.Check {
	return doctor.Check{Name: name, Look: func(context.Context) (doctor.Finding, error) { return finding, err }}
}

func (o *Options) kubeconfig(client *kube.Client) doctor.Finding {
	if client == nil {
		return doctor.Finding{}
	}
	where := fmt.Sprintf("server %s, namespace %s", client.Config.Host, client.Namespace)
	raw, err := o.Kube.ToRawKubeConfigLoader().RawConfig()
	if err != nil || raw.CurrentContext == "" {
		return doctor.OK(where)
	}
	name := raw.CurrentContext
	if given := o.Kube.Context; given != nil && *given != "" {
		name = *given
	}
	return doctor.OK("context " + name + ", " + where)
}

// blueprints makes the same check as `berth blueprint validate`, and checks that the
// default one exists.
func (o *Options) blueprints(ctx context.Context) (doctor.Finding, error) {
	c, _ := o.Config() // it is valid
	configured, err := o.ConfiguredBlueprints(ctx)
	if err != nil {
		return doctor.Finding{}, err
	}
	checked, err := catalog.Check(ctx, configured, nil)
	if err != nil {
		return doctor.Finding{}, err
	}
	if !checked.Set.Has(c.DefaultBlueprint) {
		return doctor.Failed(fmt.Sprintf("the default blueprint %q does not exist", c.DefaultBlueprint),
			"correct defaultBlueprint in the configuration; `berth blueprint list` lists the blueprints"), nil
	}
	return doctor.OK(fmt.Sprintf("the blueprints are valid; %s is the default", c.DefaultBlueprint)), nil
}

func (o *Options) defaultBlueprint(ctx context.Context) (blueprint.Blueprint, error) {
	c, _ := o.Config() // it is valid
	set, err := o.Blueprints(ctx)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	return set.Show(c.DefaultBlueprint, c.DefaultRegistry)
}

// identities are a check for each provider: whether it answers, and whom it takes
// the caller for.
func (o *Options) identities(namespace string) []doctor.Check {
	chain, err := o.Identity()
	if err != nil {
		return []doctor.Check{done("identity", err, doctor.Finding{})}
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
			command := fault.Command("berth", "provision", userstring.UserString{User: caller}.String(), "--namespace",
				namespace)
			return doctor.OK("you are " + caller + " (according to " + link.Name + "): `" + command +
				"` brings up your workspace"), nil
		}}
	}
	return checks
}
