// Package blueprint is the commands below `berth blueprint`.
package blueprint

import (
	"context"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/printer"
	"github.com/berthdev/berth/internal/terminal/result"
)

// Options are what the command lines say.
type Options struct {
	IO     terminal.Streams
	Config func() (config.Config, error)
	Load   func(context.Context) (*catalog.Set, error)
	// Configured finds the blueprints without looking at them.
	Configured func(context.Context) (catalog.Configured, error)

	Name    string   // to show
	Origins bool     // of its fields
	Paths   []string // to validate or convert; none for the configured directory
	To      string   // the directory to convert into
	InPlace bool     // write over what is converted
	Output  printer.Format
}

// NewCmd makes the commands.
func NewCmd(f *cmdutil.Factory) *cobra.Command {
	cmd := cmdutil.Group(&cobra.Command{
		Use:     "blueprint",
		Aliases: []string{"blueprints"},
		Short:   "List, show, validate and convert blueprints",
		Long: `List, show, validate and convert the blueprints from which workspaces are made: the
built-in ones, those of the configured directory, and those of ConfigMaps if any are
configured. Only the latter need a cluster.

To add one, write it into a YAML file in a directory, and name the directory with
--blueprints, BERTH_BLUEPRINTS, or blueprints in the configuration:

  blueprints:
    - name: dev
      template: default
      image: ghcr.io/example/dev:1.4`,
	})
	cmd.AddCommand(NewList(f, List), NewShow(f, Show), NewValidate(f, Validate), NewConvert(f, Convert))
	return cmd
}

// newOptions are those of a command that loads blueprints.
func newOptions(f *cmdutil.Factory, cmd *cobra.Command, formats ...string) *Options {
	deps := f.For(cmd)
	o := &Options{IO: f.IO, Config: deps.Config, Load: deps.Blueprints, Configured: deps.ConfiguredBlueprints}
	cmdutil.AddOutputFlag(cmd, &o.Output, formats...)
	cmdutil.AddBlueprintFlags(cmd)
	return o
}

// NewList makes `berth blueprint list`.
func NewList(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:               "list",
		SuggestFor:        []string{"ls", "get"},
		Short:             "List the blueprints",
		Long:              "List the blueprints, including templates, as they are written.",
		Args:              cmdutil.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	o := newOptions(f, cmd, "text", "wide", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return runF(cmd.Context(), o) }
	return cmd
}

// List prints the blueprints.
func List(ctx context.Context, o *Options) error {
	set, err := o.Load(ctx)
	if err != nil {
		return err
	}
	var list v1.BlueprintList
	for _, b := range set.List() {
		list.Items = append(list.Items, v1.BlueprintSummary{
			Name: b.Name, Description: b.Description, Template: b.Template, IsTemplate: b.IsTemplate, From: b.Origin,
		})
	}
	return printer.Print(o.IO, o.Output, result.Blueprints{BlueprintList: list})
}

// NewShow makes `berth blueprint show`.
func NewShow(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a blueprint with everything that it inherits",
		Long: `Show a blueprint with everything that it inherits. With --origins, each field says
which blueprint set it, and where.`,
		Example: `  berth blueprint show default --origins`,
		Args:    cmdutil.OneArg("blueprint"),
	}
	o := newOptions(f, cmd, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmd.ValidArgsFunction = cmdutil.CompleteOne(o.names)
	cmd.Flags().BoolVar(&o.Origins, "origins", false, "show which blueprint set each field")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Name = args[0]
		return runF(cmd.Context(), o)
	}
	return cmd
}

// Show prints one blueprint.
func Show(ctx context.Context, o *Options) error {
	set, err := o.Load(ctx)
	if err != nil {
		return err
	}
	c, err := cmdutil.Await(ctx, o.Config)
	if err != nil {
		return err
	}
	b, err := set.Show(o.Name, c.DefaultRegistry)
	if err != nil {
		return err
	}
	if !o.Origins {
		b.Origins = nil
	}
	document, err := cmdutil.BlueprintDocument(b)
	if err != nil {
		return err
	}
	return printer.Print(o.IO, o.Output, result.Blueprint{Blueprint: *document})
}

// names completes the name of a blueprint.
func (o *Options) names(cmd *cobra.Command) (names []cobra.Completion, err error) {
	set, err := o.Load(cmd.Context())
	if err != nil {
		return nil, err
	}
	for _, b := range set.List() {
		names = append(names, cobra.CompletionWithDesc(b.Name, b.Description))
	}
	return names, nil
}

// NewValidate makes `berth blueprint validate`.
func NewValidate(f *cmdutil.Factory, runF func(context.Context, *Options) error) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate [FILE|DIR...]",
		Short: "Find everything that is wrong in blueprint files",
		Long: `Find everything that is wrong in blueprint files, and where. The given files and
directories are loaded together, on top of the built-in blueprints and the configured
ones, whose places they take if they have the same names; without arguments, it is the
configured blueprints that are checked. The cluster is asked only for configured
ConfigMaps.

A file whose name is, or ends in, .k8shell.yaml is a custom blueprint, such as a
repository has one at its root: it names a platform blueprint as its template, and
may set fewer fields. Expressions (!cel) are checked as far as possible without a
user.`,
		Example: `  berth blueprint validate team.yaml
  berth blueprint validate ./blueprints --output json
  berth blueprint validate ./blueprints .k8shell.yaml`,
	}
	o := newOptions(f, cmd, "text", "json", "yaml", "jsonpath=", "go-template=")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.Paths = args
		return runF(cmd.Context(), o)
	}
	return cmd
}

// Validate checks files of blueprints.
func Validate(ctx context.Context, o *Options) error {
	configured, err := o.Configured(ctx)
	if err != nil {
		return err
	}
	if len(o.Paths) == 0 && configured.IsEmpty() {
		return fault.New(fault.InvalidArgument, "requires a file or directory: no blueprints are configured").
			WithHint("see `berth blueprint validate --help`")
	}
	done, err := cmdutil.Await(ctx, func() (catalog.Checked, error) { return catalog.Check(ctx, configured, o.Paths) })
	if err != nil {
		return err
	}
	check := v1.BlueprintCheck{Files: done.Files, Blueprints: done.Blueprints}
	return printer.Print(o.IO, o.Output, result.BlueprintCheck{BlueprintCheck: check})
}
