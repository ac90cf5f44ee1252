package main

import (
	"bytes"
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
)

// examples are documents that berth has printed on a real cluster, by kind.
//
//go:embed examples
var examples embed.FS

// outputPage is what the topic `output` becomes.
const outputPage = "docs/output.md"

// output adds to the page about output what the schemas say: each document with an example and its fields, and the
// parts that they have in common.
func output(all files) error {
	documents, err := documentSchemas()
	if err != nil {
		return err
	}
	var b, parts strings.Builder
	seen := map[string]bool{}
	for _, schema := range documents {
		seen[schema.Title] = true
	}
	for _, schema := range documents {
		fmt.Fprintf(&b, "\n## %[1]s\n\n%[2]s Schema: [%[1]s.json](schema/%[1]s.json).\n", schema.Title,
			schema.Description)
		b.WriteString(example(schema.Title))
		b.WriteString(fieldTable(schema))
		for _, part := range slices.Sorted(maps.Keys(schema.Definitions)) {
			if definition := schema.Definitions[part]; !seen[part] {
				seen[part] = true
				fmt.Fprintf(&parts, "\n### %s\n\n%s\n%s", part, definition.Description, fieldTable(definition))
			}
		}
	}
	all[outputPage] = append(all[outputPage],
		"\n# The documents\n\nThe examples are what berth printed on a real cluster.\n"+
			b.String()+"\n## Parts of documents\n"+parts.String()...)
	return nil
}

// example is what was printed of a kind: a document, or a whole stream of lines.
func example(kind string) string {
	for _, name := range []string{kind + ".json", kind + ".jsonl"} {
		if text, err := examples.ReadFile("examples/" + name); err == nil {
			return "\n```json\n" + string(bytes.TrimSpace(text)) + "\n```\n"
		}
	}
	return ""
}

func fieldTable(schema *jsonschema.Schema) string {
	if schema.Properties == nil || schema.Properties.Len() == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n| field | type | |\n| --- | --- | --- |\n")
	for pair := schema.Properties.Oldest(); pair != nil; pair = pair.Next() {
		always := ""
		if slices.Contains(schema.Required, pair.Key) {
			always = ", always"
		}
		fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", pair.Key, typeOf(pair.Value), always,
			strings.ReplaceAll(meaning(pair.Value), "|", "\\|"))
	}
	return b.String()
}

// typeOf is a field's type; one with a table of its own is a link to it.
func typeOf(field *jsonschema.Schema) string {
	switch {
	case field.Ref != "":
		name := path.Base(field.Ref)
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	case len(field.OneOf) > 0:
		return typeOf(field.OneOf[0]) + " or null"
	case field.Type == "array" && field.Items != nil:
		return "list of " + typeOf(field.Items)
	case field.Type == "object" && field.AdditionalProperties != nil && field.AdditionalProperties.Type != "":
		return "map of " + field.AdditionalProperties.Type
	case field.Format == "date-time":
		return "time"
	case field.Type == "":
		return "any"
	}
	return field.Type
}

// meaning is a field's description and the words that it is known to have.
func meaning(field *jsonschema.Schema) string {
	if field.Const != nil {
		return fmt.Sprintf("`%v`", field.Const)
	}
	known, _ := field.Extras[knownValues].([]any)
	if len(known) == 0 {
		return field.Description
	}
	words := make([]string, len(known))
	for i, word := range known {
		words[i] = fmt.Sprintf("`%v`", word)
	}
	return strings.TrimSpace(field.Description + " Known values: " + strings.Join(words, ", ") + ".")
}
