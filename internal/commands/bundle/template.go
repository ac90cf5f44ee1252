package bundle

import (
	"cmp"
	"context"
	"io"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/bundle/certificate"
	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/bundle/format"
	"github.com/berthdev/berth/internal/chart"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/terminal/printer"
)

// RenderOptions are what a bundle is read with where no cluster says it.
type RenderOptions struct {
	Release     string
	Namespace   string
	KubeVersion string
	APIVersions []string
}

// addRenderFlags adds the flags about what a chart sees.
func (o *RenderOptions) addRenderFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&o.Release, "release-name", "release-name", "the name of the release that templates see")
	flags.StringVar(&o.KubeVersion, "kube-version", "",
		"the version of Kubernetes that a chart sees, and that its kubeVersion is compared with (default: the newest "+
			"that berth knows)")
	flags.StringArrayVar(&o.APIVersions, "api-versions", nil,
		"a version of an API, or a kind of one, that a chart sees beside those of Kubernetes; repeatable")
	cmdutil.NoFlagValues(cmd, "release-name", "kube-version", "api-versions")
}

// load fetches a bundle and reads it. The content is to be closed.
func (o *RenderOptions) load(ctx context.Context, from *ContentOptions) (*content.Content, *format.Package, error) {
	version, err := chart.ParseVersion(o.KubeVersion)
	if err != nil {
		return nil, nil, err
	}
	values, err := from.values(ctx, from.IO)
	if err != nil {
		return nil, nil, err
	}
	c, err := from.fetchAlone(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, err := format.Load(ctx, c.FS(), format.Options{
		Format: from.Format, Instance: o.Release, Namespace: cmp.Or(o.Namespace, "default"), Values: values,
		RenderTime: from.RenderTimeout, Watch: from.Watch,
		Capabilities: chart.Capabilities{Version: version, Additional: o.APIVersions},
	})
	if err != nil {
		_ = c.Close()
		return nil, nil, err
	}
	return c, p, nil
}

// namespaceFlag is the namespace that the command line names; empty for none.
func namespaceFlag(cmd *cobra.Command) string {
	if flag := cmd.Flag("namespace"); flag != nil && flag.Changed {
		return flag.Value.String()
	}
	return ""
}

// TemplateOptions are what the command line of template says.
type TemplateOptions struct {
	ContentOptions
	RenderOptions
	IncludeCRDs bool
}

// NewTemplate makes `berth bundle template`.
func NewTemplate(f *cmdutil.Factory, runF func(context.Context, *TemplateOptions) error) *cobra.Command {
	o := &TemplateOptions{ContentOptions: ContentOptions{IO: f.IO}}
	cmd := &cobra.Command{
		Use:        "template SOURCE",
		SuggestFor: []string{"render"},
		Short:      "Print the objects of a bundle",
		Long: `Fetch a bundle and print the objects that it is made of, as YAML: a chart rendered with
its values, a kustomization as it is built, an operator bundle as what it stands for,
without the certificates that are made when it is installed. No cluster is asked, so that
a chart's lookups find nothing; --kube-version and --api-versions say what it sees of one.

What is printed of a chart is what "helm template" prints, but for the hooks of tests.`,
		Example: `  berth bundle template ./chart --set image.tag=v2
  berth bundle template ./repo//overlays/prod
  kubectl create deployment web --image nginx --dry-run=client -o yaml | berth bundle template -
  berth bundle template oci://registry.example.com/shop:v2 | kubectl diff -f -`,
		Args: cmdutil.OneArg("source"),
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Arg, o.Namespace = args[0], namespaceFlag(cmd)
			return o.parse()
		}),
	}
	o.Sources = f.For(cmd).VerifiedSources
	o.addSourceFlags(cmd)
	o.addFormatFlags(cmd)
	o.addRenderFlags(cmd)
	cmd.Flags().BoolVar(&o.IncludeCRDs, "include-crds", false, "print the definitions in crds/ of a chart, too")
	return cmd
}

// collectAt is after how many percent of growth garbage is collected: this program ends when it has printed, and what a
// chart of 1,000 objects leaves behind is a tenth of its time to collect at the default of 100.
const collectAt = 200

// Template prints the objects of a bundle.
func Template(ctx context.Context, o *TemplateOptions) error {
	defer debug.SetGCPercent(debug.SetGCPercent(collectAt))
	c, p, err := o.load(ctx, &o.ContentOptions)
	if err != nil {
		return err
	}
	defer c.Close()
	text, err := p.Manifest()
	if err != nil {
		return err
	}
	for _, warning := range p.Warnings {
		printer.PrintWarning(o.IO, warning)
	}
	if len(certificate.Involved(p.Objects)) > 0 {
		printer.PrintWarning(o.IO, "certificates are made when a bundle is installed: what is printed has none")
	}
	var all strings.Builder
	if p.Chart != nil && o.IncludeCRDs {
		for _, crd := range p.Chart.CRDObjects() {
			writeDocument(&all, crd.Filename, string(crd.File.Data))
		}
	}
	all.WriteString(text)
	for _, h := range p.Hooks {
		writeDocument(&all, h.Path, h.Manifest)
	}
	_, err = io.WriteString(o.IO.Out, all.String())
	return err
}

func writeDocument(out *strings.Builder, source, text string) {
	out.WriteString("---\n# Source: " + source + "\n" + text + "\n")
}
