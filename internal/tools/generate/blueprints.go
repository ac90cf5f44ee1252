package main

import (
	"github.com/invopop/jsonschema"

	"github.com/berthdev/berth/internal/blueprint"
)

// blueprints makes the JSON Schema of files of platform blueprints, for editors.
// Here a field that is not known is an error, as it is for berth.
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
	schema := reflector.Reflect(blueprint.File{})
	schema.ID = jsonschema.ID(schemaURL + "blueprints.json")
	schema.Title = "Platform blueprints"
	schema.Description = "A file of berth's platform blueprints."
	narrow(schema.Definitions)
	return write(all, "blueprints", schema)
}

// narrow says what the types do not.
func narrow(definitions jsonschema.Definitions) {
	field := func(of, name string) *jsonschema.Schema {
		schema, ok := definitions[of].Properties.Get(name)
		if !ok {
			panic(of + " has no field " + name)
		}
		return schema
	}
	definitions["Blueprint"].Description = "One blueprint, as written: what it leaves out it inherits from its template."
	definitions["Blueprint"].Required = []string{"name"}
	definitions["InitScript"].Required = []string{"name", "script"}
	field("Blueprint", "name").MinLength = new(uint64(1))
	field("Blueprint", "name").MaxLength = new(uint64(40))
	field("Blueprint", "description").MaxLength = new(uint64(500))
	field("Blueprint", "imagePullPolicy").Enum = []any{"Always", "IfNotPresent", "Never"}
	field("Storage", "type").Enum = []any{"local", "emptyDir", "memory"}
	field("Storage", "path").Pattern = "^/"
	// A number is a text where a text is meant: cpu: 2.
	for _, quantity := range []*jsonschema.Schema{field("Resources", "cpu"), field("Resources", "memory"), field("Storage", "sizeLimit")} {
		scalar(quantity, "string", "number")
	}
	for _, texts := range []*jsonschema.Schema{field("Blueprint", "env"), field("Blueprint", "extFiles")} {
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
