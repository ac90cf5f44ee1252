package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/invopop/jsonschema"
)

// examples are documents that berth has printed on a real cluster, by kind.
//
//go:embed examples
var examples embed.FS

// outputPage is what the topic `output` becomes.
const outputPage = "docs/output.md"

// output adds to the page about output what the schemas say: each document with
// an example and its fields, and the parts that they have in common.
func output(all files) error {
	var b, parts strings.Builder
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		kind, ok := strings.CutSuffix(strings.TrimPrefix(name, "docs/schema/"), ".json")
		if !ok || path.Dir(name) != "docs/schema" || !unicode.IsUpper(rune(kind[0])) {
			continue
		}
		var schema jsonschema.Schema
		var words vocabulary
		if err := errors.Join(json.Unmarshal(all[name], &schema), json.Unmarshal(all[name], &words)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s Schema: [%s.json](schema/%s.json).\n", kind, schema.Description, kind, kind)
		b.WriteString(example(kind))
		b.WriteString(fieldTable(&schema, words))
		seen[kind] = true
		for _, part := range slices.Sorted(maps.Keys(schema.Definitions)) {
			if definition := schema.Definitions[part]; !seen[part] && all["docs/schema/"+part+".json"] == nil {
				seen[part] = true
				fmt.Fprintf(&parts, "\n### %s\n\n%s\n%s", part, definition.Description, fieldTable(definition, words.Definitions[part]))
			}
		}
	}
	all[outputPage] = append(all[outputPage], "\n# The documents\n\nThe examples are what berth printed on a real cluster.\n"+
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

// vocabulary is what a schema says that the library does not read back: the
// words that fields are known to have.
type vocabulary struct {
	Properties map[string]struct {
		Known []string `json:"x-known-values"`
	} `json:"properties"`
	Definitions map[string]vocabulary `json:"$defs"`
}

func fieldTable(schema *jsonschema.Schema, words vocabulary) string {
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
		fmt.Fprintf(&b, "| `%s` | %s%s | %s |\n", pair.Key, typeOf(pair.Value), always, strings.ReplaceAll(meaning(pair.Value, words.Properties[pair.Key].Known), "|", "\\|"))
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
func meaning(field *jsonschema.Schema, known []string) string {
	switch {
	case field.Const != nil:
		return fmt.Sprintf("`%v`", field.Const)
	case len(known) > 0:
		return strings.TrimSpace(field.Description + " Known values: `" + strings.Join(known, "`, `") + "`.")
	}
	return field.Description
}
