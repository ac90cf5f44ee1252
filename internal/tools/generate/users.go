package main

import (
	"github.com/berthdev/berth/internal/identity"
	"github.com/berthdev/berth/internal/identity/provider"
)

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
