package main

import (
	"github.com/invopop/jsonschema"

	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/identity/provider"
)

// users makes the JSON Schema of documents of users, for editors.
func users(all files) error {
	reflector := &jsonschema.Reflector{
		Anonymous:                  true,
		ExpandedStruct:             true,
		FieldNameTag:               "yaml",
		RequiredFromJSONSchemaTags: true,
	}
	if err := addComments(reflector, "internal/identity/provider"); err != nil {
		return err
	}
	schema := reflector.Reflect(provider.Document{})
	schema.ID = jsonschema.ID(schemaURL + "users.json")
	schema.Title = "Users"
	schema.Description = "A document of users, for the identity providers file and configmap."
	entry := schema.Definitions["Entry"]
	entry.Description = "One user."
	entry.Required = []string{"username"}
	field := func(name string) *jsonschema.Schema {
		property, ok := entry.Properties.Get(name)
		if !ok {
			panic("a user has no field " + name)
		}
		return property
	}
	field("username").Pattern = "^[a-z0-9_-]+$"
	field("status").Enum = []any{identity.Active, identity.Locked, identity.Invalid}
	return write(all, "users", schema)
}
