package bundle

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/api/bundle/v1alpha1"
	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/apply"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/bundle/instance"
	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/event"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result/bundle"
)

// ValidateOptions are what the command line of validate says.
type ValidateOptions struct {
	ContentOptions
	RenderOptions
	// Open makes what asks the cluster, which is asked if the command line names it, or with DryRun.
	Open       func(ctx context.Context, system string) (instance.Reconciler, error)
	Named      bool
	Namespaced bool // the command line names the namespace of the objects
	DryRun     apply.DryRun
	Timeout    time.Duration
}

// NewValidate makes `berth bundle validate`.
func NewValidate(f *cmdutil.Factory, runF func(context.Context, *ValidateOptions) error) *cobra.Command {
	o := &ValidateOptions{ContentOptions: ContentOptions{IO: f.IO}}
	cmd := &cobra.Command{
		Use:   "validate SOURCE",
		Short: "Check a bundle, and say what is in it",
		Long: `Fetch a bundle, check all of it, and say what would be installed. All problems are
reported together, each with its file.

Fields are compared with those of Kubernetes' own kinds, and of custom resources with the
definitions in the bundle. What could not be checked is named, and why: such an object may
be refused by the cluster.

No cluster is asked, unless the command line names it with --context or --kubeconfig, or
--dry-run=server asks that of the current context. Then a chart is rendered for that
cluster, with what its lookups find, and the API server checks every object and keeps
nothing: as at an installation under the name of --release-name. All that it refuses is
named together. That takes the permissions of "berth bundle diff", and to create the
objects.`,
		Example: `  berth bundle validate ./shop
  berth bundle validate ./shop --context production --namespace shop
  berth bundle validate ./chart --values production.yaml --kube-version 1.31
  berth bundle validate oci://registry.example.com/shop:v2 --output json`,
		Args: cmdutil.OneArg("source"),
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Arg, o.Namespace = args[0], namespaceFlag(cmd)
			o.Namespaced = o.Namespace != ""
			o.Named = cmd.Flags().Changed("context") || cmd.Flags().Changed("kubeconfig")
			return o.validate()
		}),
	}
	o.Sources, o.Open = f.For(cmd).VerifiedSources, f.For(cmd).VerifiedBundles
	o.addSourceFlags(cmd)
	o.addFormatFlags(cmd)
	o.addRenderFlags(cmd)
	cmdutil.EnumVar(cmd, &o.DryRun, "dry-run", "have the API server check the objects, and keep nothing",
		apply.DryRunServer)
	cmdutil.AddTimeoutFlag(cmd, &o.Timeout)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	return cmd
}

// asks is whether a cluster is asked.
func (o *ValidateOptions) asks() bool { return o.Named || o.DryRun != "" }

// validate finds what is wrong with the command line.
func (o *ValidateOptions) validate() error {
	if err := cmdutil.CheckTimeout(o.Timeout); err != nil {
		return err
	}
	if o.asks() {
		if o.KubeVersion != "" || len(o.APIVersions) > 0 {
			return fault.New(fault.InvalidArgument, "--kube-version and --api-versions are for a chart that is "+
				"rendered without a cluster").
				WithHint("leave them out, or leave out --context, --kubeconfig and --dry-run")
		}
		if err := resource.CheckName(o.Release); err != nil {
			return err
		}
	}
	return o.parse()
}

// Validate checks a bundle.
func Validate(ctx context.Context, o *ValidateOptions) error {
	ctx, cancel := cmdutil.WithTimeout(ctx, o.Timeout)
	defer cancel()
	load := o.loadAlone
	if o.asks() {
		load = o.loadOnCluster
	}
	c, p, unchecked, err := load(ctx)
	if err != nil {
		return cmdutil.Because(ctx, err)
	}
	defer c.Close()
	d := describe(o.Arg, c, p)
	d.Unchecked = unchecked
	return printer.Print(o.IO, o.Output, bundle.Content{BundleContent: d})
}

// loadAlone fetches a bundle and reads it without a cluster. The content is to be closed.
func (o *ValidateOptions) loadAlone(ctx context.Context) (*content.Content, *format.Package, []v1.UncheckedObject,
	error,
) {
	c, p, err := o.load(ctx, &o.ContentOptions)
	if err != nil {
		return nil, nil, nil, err
	}
	var unchecked []v1.UncheckedObject
	said := map[v1.UncheckedObject]bool{} // a chart and its subchart may have the same definition
	for _, u := range p.Unknown {
		if one := uncheckedOf(u.Object, u.Reason); !said[one] {
			said[one] = true
			unchecked = append(unchecked, one)
		}
	}
	return c, p, unchecked, nil
}

func uncheckedOf(object *unstructured.Unstructured, why string) v1.UncheckedObject {
	return v1.UncheckedObject{
		Object: kube.Object(object.GetKind(), object.GetName()), Namespace: object.GetNamespace(), Reason: why,
	}
}

// loadOnCluster fetches a bundle and reads it for a cluster, which checks its objects. The content is to be closed.
func (o *ValidateOptions) loadOnCluster(ctx context.Context) (*content.Content, *format.Package, []v1.UncheckedObject,
	error,
) {
	as := &InstallOptions{IO: o.IO, Name: o.Release, SourceOptions: o.SourceOptions, Namespaced: o.Namespaced}
	as.ResetValues = true // it is checked with the values of the command line
	values, err := as.values(ctx, o.IO)
	if err != nil {
		return nil, nil, nil, err
	}
	r, err := o.Open(ctx, instance.DefaultSystem)
	if err != nil {
		return nil, nil, nil, err
	}
	r.RenderTime = o.RenderTimeout
	steps := event.NewSteps(event.NewStream(o.Release, time.Now), time.Now)
	defer steps.Finish(v1.Result{})
	q, known, err := as.fetched(ctx, r, v1alpha1.Config{Values: string(values), Namespace: r.Own.Namespace}, steps)
	if err != nil {
		return nil, nil, nil, err
	}
	changes, err := r.Preview(ctx, q, known, apply.DryRunServer)
	if err != nil {
		_ = q.Content.Close()
		return nil, nil, nil, err
	}
	return q.Content, q.Package, unasked(q.Package, changes), nil
}

// unasked are the objects that the API server was not asked about.
func unasked(p *format.Package, changes apply.Changes) (unchecked []v1.UncheckedObject) {
	for _, c := range changes {
		if c.Unasked != "" {
			unchecked = append(unchecked, uncheckedOf(c.Object, c.Unasked))
		}
	}
	for i := range p.Hooks {
		unchecked = append(unchecked, uncheckedOf(p.Hooks[i].Object, "it is a hook, which no dry run makes"))
	}
	return unchecked
}
