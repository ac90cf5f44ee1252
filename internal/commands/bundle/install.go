package bundle

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/english"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/wording"
)

// InstallOptions are what the command line of install says.
type InstallOptions struct {
	IO terminal.Streams
	// Open makes what the command works with, for a system namespace.
	Open func(ctx context.Context, system string) (instance.Reconciler, error)
	// Flags say which cluster is meant, for commands that are proposed.
	Flags []string

	Name string
	SourceOptions
	System string // namespace
	// ServiceAccount is as what the bundle is installed; AccountGiven says whether the command
	// line has it, also as none.
	ServiceAccount  *v1alpha1.ServiceAccount
	AccountGiven    bool
	Namespaced      bool // the command line names the namespace of the objects
	CreateNamespace bool
	ForceConflicts  bool
	NoWait          bool
	Timeout         time.Duration
	StuckAfter      time.Duration
	DryRun          apply.DryRun
	Output          printer.Format

	goesOn string // the command that goes on with a rollback that does not end; empty for an installation
}

// aboutInstall is the help of install.
const aboutInstall = `Install a bundle under a name, or upgrade what is installed under it, and wait until
every object is healthy. Nothing is written before all of the bundle has been
checked. Objects that name no namespace go into that of the context, or of
--namespace, and stay there in upgrades; those that the bundle does not have any
more are removed. Definitions of kinds and what is marked
helm.sh/resource-policy: keep stay.

A chart is upgraded with the values of its last installation. --values and --set replace
them, all of them, and --reset-values installs with those of the chart alone; which values change
is printed.

An operator watches all namespaces, or its own if it does not support that; with
--watch-namespaces those that are named, also after upgrades. Certificates of its webhooks
are made, and renewed by an upgrade or a server when a third of their time is left.

The pods of a workload are followed as those of a workspace are: what will not pass, such
as an image that does not exist, ends the wait with exit status 3, its cause and what to do.
--policy and the other flags about it say what that is, as in "berth help policies". What
another object of the bundle may still bring is waited for: a Secret that a Job makes, or
what a program needs that is started again. That takes permission to list and watch pods,
ReplicaSets, claims and events where the workloads are ("berth help rbac"); without it,
the wait goes by what the workloads say of themselves. While a server does the work, its
policy counts.

If an upgrade is refused, or a hook after it fails, what was installed before is put back.
If the new objects do not get healthy, they stay; "berth bundle rollback" goes back.

A private source takes a login: that which helm, Docker, git's credential helper or SSH
has for it; or a Secret of the system namespace, which --source-secret names, and with
which others can fetch it again. What a chart depends on and lacks is fetched, too.

A field of an object that another program has set is an error, and nothing is written;
--force-conflicts takes it over.

With --service-account the bundle is installed, upgraded and removed as that one, by a
server as well; an upgrade keeps it unless another one is named, or "" for none.

The release can be looked at with helm in the system namespace. While a server of
berth reconciles bundles, it does the work, and this command follows it.`

// NewInstall makes `berth bundle install`.
func NewInstall(f *cmdutil.Factory, runF func(context.Context, *InstallOptions) error) *cobra.Command {
	o := &InstallOptions{IO: f.IO}
	cmd := &cobra.Command{
		Use:        "install NAME SOURCE",
		SuggestFor: []string{"add", "apply", "create", "upgrade"},
		Short:      "Install a bundle, or upgrade it",
		Long:       aboutInstall,
		Example: `  berth bundle install shop ./shop
  berth bundle install shop ./repo//overlays/prod
  berth bundle install shop oci://registry.example.com/shop:v2
  berth bundle install shop git+https://git.example.com/shop.git//deploy --tag v2
  berth bundle install shop oci://registry.example.com/private/shop:v2 --source-secret shop-login
  berth bundle install shop ./chart --values production.yaml --timeout 5m
  berth bundle install caches oci://registry.example.com/caches:v1.4.0 --watch-namespaces shop,stage
  berth bundle install shop ./shop --dry-run=server`,
		ValidArgsFunction: completeSource(f),
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			if err := requireNameAndSource(args); err != nil {
				return err
			}
			o.Name, o.Arg, o.Flags = args[0], args[1], clusterFlags(cmd, o.System)
			o.Namespaced, o.AccountGiven = cmd.Flags().Changed("namespace"),
				cmd.Flags().Changed(cmdutil.FlagServiceAccount)
			return o.validate()
		}),
	}
	o.addFlags(f, cmd)
	return cmd
}

func requireNameAndSource(args []string) error {
	if len(args) == 2 {
		return nil
	}
	return fault.New(fault.InvalidArgument, "requires a name and a source, got %s",
		english.Plural(len(args), "argument"))
}

// addFlags adds the flags of install.
func (o *InstallOptions) addFlags(f *cmdutil.Factory, cmd *cobra.Command) {
	o.addInstallFlags(cmd)
	o.addFollowFlags(f, cmd)
	cmd.Flags().BoolVar(&o.CreateNamespace, "create-namespace", false,
		"create the namespace of --namespace if it does not exist; it outlives the bundle")
	cmdutil.AddServiceAccountFlag(cmd, &o.ServiceAccount, cmdutil.FlagServiceAccount,
		"install as this ServiceAccount, which you have to be allowed to impersonate (default: as last time; at first "+
			"you, or the server's installer)")
}

// addFollowFlags adds the flags about how it is written, followed and printed.
func (o *InstallOptions) addFollowFlags(f *cmdutil.Factory, cmd *cobra.Command) {
	o.Open = f.For(cmd).VerifiedBundles
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "jsonl", "name", "jsonpath=", "go-template=")
	cmd.Flags().BoolVar(&o.ForceConflicts, "force-conflicts", false,
		"take over what other programs have set in the objects")
	cmd.Flags().BoolVar(&o.NoWait, "no-wait", false, "do not wait until the objects are healthy")
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmdutil.AddPolicyFlags(cmd)
	cmdutil.AddStuckAfterFlag(cmd, &o.StuckAfter)
	cmdutil.AddDryRunFlag(cmd, &o.DryRun)
}

// addInstallFlags adds the flags about what is fetched and where it goes.
func (o *InstallOptions) addInstallFlags(cmd *cobra.Command) {
	o.addSourceFlags(cmd)
	o.addSecretFlag(cmd)
	o.addFormatFlags(cmd)
	o.addResetFlag(cmd)
	addSystemFlag(cmd, &o.System)
}

// addSystemFlag adds --system-namespace.
func addSystemFlag(cmd *cobra.Command, system *string) {
	cmd.Flags().StringVar(system, "system-namespace", instance.DefaultSystem,
		"the namespace of releases, leases and uploads")
}

// clusterFlags say which cluster is meant, and where in it the records are.
func clusterFlags(cmd *cobra.Command, system string) []string {
	flags := cmdutil.ClusterFlags(cmd)
	if system != instance.DefaultSystem {
		flags = append(flags, wording.Flag("--system-namespace", system))
	}
	return flags
}

// validate finds what is wrong with the command line.
func (o *InstallOptions) validate() error {
	if err := o.check(); err != nil {
		return err
	}
	return o.parse()
}

// check is validate, but for where the content comes from.
func (o *InstallOptions) check() error {
	if err := resource.CheckName(o.Name); err != nil {
		return err
	}
	if err := cmdutil.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	return cmdutil.CheckStuckAfter(o.StuckAfter, o.NoWait)
}
