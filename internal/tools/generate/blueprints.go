package main

import (
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/berthdev/berth/internal/blueprint"
)

// blueprints makes the JSON Schemas of files of platform blueprints and of custom
// blueprints, for editors. Here a field that is not known is an error, as it is
// for berth.
func blueprints(all files) error {
	reflector := &jsonschema.Reflector{
		Anonymous:                  true,
		ExpandedStruct:             true,
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
	}
	if err := addComments(reflector, "internal/blueprint"); err != nil {
		return err
	}
	platform := reflector.Reflect(blueprint.File{})
	platform.ID = jsonschema.ID(schemaURL + "blueprints.json")
	platform.Title = "Platform blueprints"
	platform.Description = "A file of berth's platform blueprints."
	narrow(platform.Definitions, platform.Definitions["Blueprint"])
	one := platform.Definitions["Blueprint"]
	one.Description = "One blueprint, as written: what it leaves out it inherits from its template."
	one.Required = []string{"name"}
	if err := write(all, "blueprints", platform); err != nil {
		return err
	}
	custom := reflector.Reflect(blueprint.Blueprint{})
	custom.ID = jsonschema.ID(schemaURL + "custom-blueprint.json")
	custom.Title = "Custom blueprint"
	custom.Description = "A .k8shell.yaml: what it leaves out it inherits from the platform blueprint that it names."
	narrow(custom.Definitions, custom)
	keep(custom, append(blueprint.CustomFields(), "template"))
	for _, platformOnly := range []string{"K8shelld", "Podman"} {
		delete(custom.Definitions, platformOnly)
	}
	custom.Required = []string{"template"}
	return write(all, "custom-blueprint", custom)
}

// keep leaves fields out that are not allowed.
func keep(schema *jsonschema.Schema, allowed []string) {
	var names []string
	for pair := schema.Properties.Oldest(); pair != nil; pair = pair.Next() {
		names = append(names, pair.Key)
	}
	for _, name := range names {
		if !slices.Contains(allowed, name) {
			schema.Properties.Delete(name)
		}
	}
}

// narrow says what the types do not.
func narrow(definitions jsonschema.Definitions, one *jsonschema.Schema) {
	field := func(of *jsonschema.Schema, name string) *jsonschema.Schema {
		schema, ok := of.Properties.Get(name)
		if !ok {
			panic("there is no field " + name)
		}
		return schema
	}
	storage, resources, network := definitions["Storage"], definitions["Resources"], definitions["Network"]
	definitions["InitScript"].Required = []string{"name", "script"}
	definitions["EgressPods"].Required = []string{"labels"}
	field(one, "name").MinLength = new(uint64(1))
	field(one, "name").MaxLength = new(uint64(40))
	field(one, "description").MaxLength = new(uint64(500))
	field(one, "splash").MaxLength = new(uint64(4096))
	policies := []any{"Always", "IfNotPresent", "Never"}
	for _, of := range []*jsonschema.Schema{one, definitions["K8shelld"], definitions["Podman"]} {
		field(of, "imagePullPolicy").Enum = policies
	}
	field(network, "networkPolicyClass").Enum = []any{"workspace", "system", "isolated", "user", "organization"}
	field(storage, "type").Enum = []any{"local", "shared", "emptyDir", "memory"}
	field(storage, "path").Pattern = "^/"
	for _, owner := range []string{"fsOwnerUid", "fsOwnerGid"} {
		field(storage, owner).Minimum = "0"
	}
	// A number is a text where a text is meant: cpu: 2.
	for _, quantity := range []*jsonschema.Schema{
		field(resources, "cpu"), field(resources, "memory"), field(storage, "sizeLimit"), field(definitions["Podman"], "sizeLimit"),
	} {
		scalar(quantity, "string", "number")
	}
	for _, texts := range []*jsonschema.Schema{
		field(one, "env"), field(one, "extFiles"), field(storage, "claimSpecAnnotations"), field(definitions["EgressPods"], "labels"),
	} {
		texts.AdditionalProperties = &jsonschema.Schema{}
		scalar(texts.AdditionalProperties, "string", "number", "boolean")
	}
}

func scalar(schema *jsonschema.Schema, types ...string) {
	schema.Type = ""
	for _, t := range types {
		schema.AnyOf = append(schema.AnyOf, &jsonschema.Schema{Type: t})
	}
}
