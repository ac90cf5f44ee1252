package main

import (
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/identity/provider"
)

// editorSchema makes the JSON Schema of a file that people write, for editors. Here a field that is not known is an
// error, as it is for berth.
func editorSchema(of any, dir, name, title, about string) (*jsonschema.Schema, error) {
	reflector := &jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, FieldNameTag: "yaml",
		RequiredFromJSONSchemaTags: true,
	}
	if err := addComments(reflector, dir); err != nil {
		return nil, err
	}
	schema := reflector.Reflect(of)
	schema.ID = jsonschema.ID(schemaURL + name + ".json")
	schema.Title, schema.Description = title, about
	return schema, nil
}

// property is a field of a schema, which must have it.
func property(of *jsonschema.Schema, name string) *jsonschema.Schema {
	schema, ok := of.Properties.Get(name)
	if !ok {
		panic("unknown field " + name)
	}
	return schema
}

// blueprints makes the JSON Schemas of files of platform blueprints and of custom blueprints, for editors.
func blueprints(all files) error {
	const dir = "internal/blueprint"
	platform, err := editorSchema(blueprint.File{}, dir, "blueprints", "Platform blueprints",
		"A file of berth's platform blueprints.")
	if err != nil {
		return err
	}
	narrow(platform.Definitions, platform.Definitions["Blueprint"])
	one := platform.Definitions["Blueprint"]
	one.Description = "One blueprint, as written: what it leaves out it inherits from its template."
	one.Required = []string{"name"}
	if err := write(all, "blueprints", platform); err != nil {
		return err
	}
	custom, err := editorSchema(blueprint.Blueprint{}, dir, "custom-blueprint", "Custom blueprint",
		"A .k8shell.yaml: what it leaves out it inherits from the platform blueprint that it names.")
	if err != nil {
		return err
	}
	narrow(custom.Definitions, custom)
	keep(custom, append(blueprint.CustomFields(), "template"))
	for _, platformOnly := range []string{"K8shelld", "Limits", "Podman"} {
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
	storage, resources, network := definitions["Storage"], definitions["Resources"], definitions["Network"]
	definitions["InitScript"].Required = []string{"name", "script"}
	definitions["EgressPods"].Required = []string{"labels"}
	property(one, "name").MinLength = new(uint64(1))
	property(one, "name").MaxLength = new(uint64(40))
	property(one, "description").MaxLength = new(uint64(500))
	property(one, "splash").MaxLength = new(uint64(4096))
	policies := []any{"Always", "IfNotPresent", "Never"}
	for _, of := range []*jsonschema.Schema{one, definitions["K8shelld"], definitions["Podman"]} {
		property(of, "imagePullPolicy").Enum = policies
	}
	property(network, "networkPolicyClass").Enum = []any{"workspace", "system", "isolated", "user", "organization"}
	property(storage, "type").Enum = []any{"local", "shared", "emptyDir", "memory", "scratch"}
	property(storage, "path").Pattern = "^/"
	for _, owner := range []string{"fsOwnerUid", "fsOwnerGid"} {
		property(storage, owner).Minimum = "0"
	}
	for pair := definitions["Limits"].Properties.Oldest(); pair != nil; pair = pair.Next() {
		pair.Value.Minimum, pair.Value.Maximum = "0", "87600"
	}
	// A number is a text where a text is meant: cpu: 2.
	for _, quantity := range []*jsonschema.Schema{
		property(resources, "cpu"), property(resources, "memory"), property(storage, "sizeLimit"),
		property(definitions["Podman"], "sizeLimit"),
	} {
		scalar(quantity, "string", "number")
	}
	for _, texts := range []*jsonschema.Schema{
		property(one, "env"), property(one, "extFiles"), property(storage, "claimSpecAnnotations"),
		property(definitions["Podman"], "extFiles"),
		property(definitions["EgressPods"], "labels"),
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

// users makes the JSON Schema of documents of users, for editors.
func users(all files) error {
	schema, err := editorSchema(provider.Document{}, "internal/identity/provider", "users",
		"Users", "A document of users, for the identity providers file and configmap.")
	if err != nil {
		return err
	}
	entry := schema.Definitions["Entry"]
	entry.Description = "One user."
	entry.Required = []string{"username"}
	property(entry, "username").Pattern = `^([a-z0-9._@-]|%[0-9A-F]{2}|[^\x00-\x7F])+$`
	property(entry, "status").Enum = []any{identity.Active, identity.Locked, identity.Invalid}
	return write(all, "users", schema)
}
