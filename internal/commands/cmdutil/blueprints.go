package cmdutil

import (
	"context"
	"encoding/json"

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
	c, err := d.Config()
	if err != nil {
		return nil, err
	}
	if len(c.BlueprintConfigMaps) == 0 {
		return catalog.Load(c.Blueprints)
	}
	client, err := d.Client()
	if err != nil {
		return nil, err
	}
	found, err := catalog.ReadConfigMaps(ctx, client, c.BlueprintConfigMaps)
	if err != nil {
		return nil, err
	}
	return catalog.Load(c.Blueprints, found...)
}

// BlueprintDocument is the document of a resolved blueprint.
func BlueprintDocument(b blueprint.Blueprint) (*v1.Blueprint, error) {
	document := &v1.Blueprint{
		Name: b.Name, IsTemplate: b.IsTemplate,
		From: b.Origin, Lineage: b.Lineage, Origins: b.Origins,
	}
	text, err := json.Marshal(b)
	if err == nil {
		err = json.Unmarshal(text, &document.Spec)
	}
	if err != nil {
		return nil, fault.New(fault.Internal, "blueprint %s: %w", b.Name, err)
	}
	return document, nil
}
