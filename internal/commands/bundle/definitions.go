package bundle

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/berthdev/berth/internal/bundle/resource"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// DefinitionsOptions are what the command line of definitions says.
type DefinitionsOptions struct {
	IO     terminal.Streams
	Output printer.Format
}

// NewDefinitions makes `berth bundle definitions`.
func NewDefinitions(f *cmdutil.Factory, runF func(context.Context, *DefinitionsOptions) error) *cobra.Command {
	o := &DefinitionsOptions{IO: f.IO}
	cmd := &cobra.Command{
		Use:   "definitions",
		Short: "Print the CustomResourceDefinitions of bundles",
		Long: `Print the CustomResourceDefinitions of Bundle and BundleInstance. "berth bundle
install" creates them if they are missing; where it may not, an administrator does it
with this command.`,
		Example:           "  " + resource.DefinitionsCommand,
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(cmd *cobra.Command, _ []string) error { return runF(cmd.Context(), o) },
	}
	cmdutil.AddOutputFlag(cmd, &o.Output, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	return cmd
}

// Definitions prints them.
func Definitions(_ context.Context, o *DefinitionsOptions) error {
	definitions, err := resource.Definitions()
	if err != nil {
		return err
	}
	objects := result.NewObjects()
	for _, object := range definitions {
		objects.Add("create", object.Object)
	}
	return printer.Print(o.IO, o.Output, objects)
}
