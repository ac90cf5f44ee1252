package bundle

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result/bundle"
)

// ValidateOptions are what the command line of validate says.
type ValidateOptions struct {
	ContentOptions
	RenderOptions
}

// NewValidate makes `berth bundle validate`.
func NewValidate(f *cmdutil.Factory, runF func(context.Context, *ValidateOptions) error) *cobra.Command {
	o := &ValidateOptions{ContentOptions: ContentOptions{IO: f.IO, Sources: f.Sources}}
	cmd := &cobra.Command{
		Use:   "validate SOURCE",
		Short: "Check a bundle, and say what is in it",
		Long: `Fetch a bundle, check all of it, and say what would be installed. All problems are
reported together, each with its file. No cluster is asked: whether it accepts the
objects, "berth bundle diff" and "berth bundle install --dry-run=server" find out.`,
		Example: `  berth bundle validate ./shop
  berth bundle validate ./chart --values production.yaml --kube-version 1.31
  berth bundle validate oci://registry.example.com/shop:v2 --output json`,
		Args: cmdutil.OneArg("source"),
		RunE: cmdutil.RunE(o, runF, func(cmd *cobra.Command, args []string) error {
			o.Arg, o.Namespace = args[0], namespaceFlag(cmd)
			return o.parse()
		}),
	}
	o.addSourceFlags(cmd)
	o.addFormatFlags(cmd)
	o.addRenderFlags(cmd)
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	return cmd
}

// Validate checks a bundle.
func Validate(ctx context.Context, o *ValidateOptions) error {
	c, p, err := o.load(ctx, &o.ContentOptions)
	if err != nil {
		return err
	}
	defer c.Close()
	return printer.Print(o.IO, o.Output, bundle.Content{BundleContent: describe(o.Arg, c, p)})
}
