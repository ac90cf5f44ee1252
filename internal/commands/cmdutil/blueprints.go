package cmdutil

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/catalog"
	"github.com/berthdev/berth/internal/fault"
)

// AddBlueprintFlags adds the flags that say where blueprints are.
func AddBlueprintFlags(cmd *cobra.Command) {
	cmd.Flags().String("blueprints", "", "a directory of platform blueprints (YAML)")
	_ = cmd.MarkFlagDirname("blueprints")
}

// Blueprints loads the configured blueprints. It asks the cluster only if some of
// them are there.
func (d *Dependencies) Blueprints(ctx context.Context) (*catalog.Set, error) {
	c, err := d.ConfiguredBlueprints(ctx)
	if err != nil {
		return nil, err
	}
	where := ""
	if c.Dir != "" {
		where = " in " + c.Dir
	}
	defer d.IO.Slowly("the blueprints" + where + " to be read")()
	return Await(ctx, func() (*catalog.Set, error) { return catalog.Load(c.Dir, c.More...) })
}

// ConfiguredBlueprints are where the configured blueprints are; those of ConfigMaps
// have been read.
func (d *Dependencies) ConfiguredBlueprints(ctx context.Context) (configured catalog.Configured, err error) {
	c, err := Await(ctx, d.Config)
	configured.Dir = c.Blueprints
	if err != nil || len(c.BlueprintConfigMaps) == 0 {
		return configured, err
	}
	client, err := Await(ctx, d.Client)
	if err != nil {
		return configured, err
	}
	configured.More, err = catalog.ReadConfigMaps(ctx, client, c.BlueprintConfigMaps)
	return configured, err
}

// BlueprintDocument is the document of a resolved blueprint.
func BlueprintDocument(b blueprint.Blueprint) (*v1.Blueprint, error) {
	document := &v1.Blueprint{
		Name: b.Name, IsTemplate: b.IsTemplate,
		From: b.Origin, Lineage: b.Lineage, Origins: b.Origins, Expressions: b.Expressions,
	}
	text, err := json.Marshal(b)
	if err == nil {
		err = json.Unmarshal(text, &document.Spec)
	}
	if err != nil { // a number that is not finite, in a blueprint that is not validated
		return nil, fault.New(
			fault.InvalidArgument, "blueprint %s cannot be shown: %s", b.Name,
			strings.TrimPrefix(err.Error(), "json: "),
		).
			WithHint("find the field with `berth blueprint validate`")
	}
	return document, nil
}

// SetFlags change the blueprint for one run, within what a custom blueprint may
// set.
type SetFlags struct {
	Image  string
	Fields []string // path=value
}

// Add adds the flags.
func (f *SetFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.Image, "image", "", "use this image, for this run")
	cmd.Flags().StringArrayVar(
		&f.Fields, "set", nil, "set a field of the blueprint, for this run: resources.cpu=2, env.FOO=bar (repeatable)",
	)
	NoFlagValues(cmd, "image", "set")
}

// Overrides are the flags in the order in which they take precedence.
func (f *SetFlags) Overrides() (all []catalog.Override, err error) {
	if f.Image != "" {
		all = append(all, catalog.Override{Flag: "--image", Path: "image", Value: f.Image})
	}
	var problems []string
	for _, text := range f.Fields {
		path, value, ok := strings.Cut(text, "=")
		if !ok || path == "" {
			problems = append(problems, "--set "+text+": must be FIELD=VALUE, such as resources.cpu=2")
		}
		all = append(all, catalog.Override{Flag: "--set", Path: path, Value: value})
	}
	if len(problems) > 0 {
		err := fault.New(fault.InvalidArgument, "invalid --set")
		err.Problems = problems
		return nil, err.WithHint("repeat --set for each field: --set resources.cpu=2 --set env.FOO=bar")
	}
	return all, nil
}
