package commands

import (
	"context"
	"os"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/config"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kube"
	"github.com/berthdev/berth/internal/terminal/printer"
)

func newBlueprint(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "blueprint",
		Short: "List, show and validate blueprints",
		Long: `List, show and validate the blueprints that workspaces are made of: the built-in
ones, those of the configured directory, and those of ConfigMaps if the
configuration names any. Only these need a cluster.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newBlueprintList(a), newBlueprintShow(a), newBlueprintValidate(a))
	return cmd
}

func newBlueprintList(a *app) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use:               "list",
		Short:             "List the blueprints",
		Long:              "List the blueprints, templates included, as they are written.",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			set, _, err := a.blueprints(cmd)
			if err != nil {
				return err
			}
			list := &v1.BlueprintList{TypeMeta: v1.Kind(v1.KindBlueprintList), Items: []v1.BlueprintSummary{}}
			for _, b := range set.List() {
				list.Items = append(list.Items, v1.BlueprintSummary{
					Name: b.Name, Description: b.Description, Template: b.Template, IsTemplate: b.IsTemplate, From: b.Origin,
				})
			}
			return printer.PrintBlueprints(a.streams, output.format, list)
		},
	}
	output.register(cmd, "text", "wide", "json", "yaml", "name", "jsonpath=", "go-template=")
	addBlueprintFlags(cmd)
	return cmd
}

func newBlueprintShow(a *app) *cobra.Command {
	var output outputFlag
	var withOrigins bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show a blueprint with everything that it inherits",
		Long: `Show a blueprint with everything that it inherits. With --origins, each field
says which blueprint set it, and where.`,
		Example:           `  berth blueprint show default --origins`,
		Args:              exactlyOne("blueprint"),
		ValidArgsFunction: a.completeBlueprints,
		RunE: func(cmd *cobra.Command, args []string) error {
			set, c, err := a.blueprints(cmd)
			if err != nil {
				return err
			}
			b, err := set.Show(args[0], c.DefaultRegistry)
			if err != nil {
				return err
			}
			if !withOrigins {
				b.Origins = nil
			}
			document, err := blueprintDocument(b)
			if err != nil {
				return err
			}
			return printer.PrintBlueprint(a.streams, output.format, document)
		},
	}
	output.register(cmd, "text", "json", "yaml", "name", "jsonpath=", "go-template=")
	cmd.Flags().BoolVar(&withOrigins, "origins", false, "say of each field which blueprint set it")
	addBlueprintFlags(cmd)
	return cmd
}

func newBlueprintValidate(a *app) *cobra.Command {
	var output outputFlag
	cmd := &cobra.Command{
		Use:   "validate [FILE|DIR...]",
		Short: "Find everything that is wrong in files of blueprints",
		Long: `Find everything that is wrong in files of blueprints and say where. Files and
directories that are given stand upon each other and upon what is built in;
without any it is the configured directory. No cluster is asked.

A file whose name is, or ends in, .k8shell.yaml is a custom blueprint, as a
repository has one at its root: it names a platform blueprint as its template and
may set less. Expressions (!cel) are checked as far as that goes without a user.`,
		Example: `  berth blueprint validate team.yaml
  berth blueprint validate ./blueprints --output json
  berth blueprint validate ./blueprints .k8shell.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			paths, err := pathsToCheck(cmd, args)
			if err != nil {
				return err
			}
			done, err := blueprint.Check(paths)
			if err != nil {
				return err
			}
			check := &v1.BlueprintCheck{TypeMeta: v1.Kind(v1.KindBlueprintCheck), Files: done.Files, Blueprints: done.Blueprints}
			return printer.PrintBlueprintCheck(a.streams, output.format, check)
		},
	}
	output.register(cmd, "text", "json", "yaml", "jsonpath=", "go-template=")
	addBlueprintFlags(cmd)
	return cmd
}

// pathsToCheck are those that are given, or the configured directory. Who names
// files needs no configuration.
func pathsToCheck(cmd *cobra.Command, args []string) ([]string, error) {
	if len(args) > 0 {
		return args, nil
	}
	c, err := config.Load(cmd.Flags(), os.Getenv)
	if err == nil && c.Blueprints == "" {
		err = usage(cmd, fault.New(fault.InvalidArgument, "a file or directory is needed: no directory of blueprints is configured"))
	}
	return []string{c.Blueprints}, err
}

// blueprints loads the blueprints of the configuration. The cluster is asked only
// if some of them are there.
func (a *app) blueprints(cmd *cobra.Command) (*blueprint.Set, config.Config, error) {
	c, err := config.Load(cmd.Flags(), os.Getenv)
	if err != nil {
		return nil, c, err
	}
	var client kube.Interface
	if len(c.BlueprintConfigMaps) > 0 {
		if client, err = a.client(); err != nil {
			return nil, c, err
		}
	}
	set, err := loadFrom(cmd.Context(), c, client)
	return set, c, err
}

func loadFrom(ctx context.Context, c config.Config, client kube.Interface) (*blueprint.Set, error) {
	if len(c.BlueprintConfigMaps) == 0 {
		return blueprint.Load(c.Blueprints)
	}
	found, err := blueprint.ReadConfigMaps(ctx, client, c.BlueprintConfigMaps)
	if err != nil {
		return nil, err
	}
	return blueprint.Load(c.Blueprints, found...)
}

// completeBlueprints completes the name of a blueprint.
func (a *app) completeBlueprints(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	set, _, err := a.blueprints(cmd)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []cobra.Completion
	for _, b := range set.List() {
		names = append(names, cobra.CompletionWithDesc(b.Name, b.Description))
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
