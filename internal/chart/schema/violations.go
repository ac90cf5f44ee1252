package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/berthdev/berth/internal/yamldoc"
)

// violations are all of a schema, each with the path of its value: the validator ends with
// the first one. It is asked about each part of the schema by itself.
type violations struct {
	root     *jsonschema.Schema
	written  references                    // the same, in which references are followed
	targets  map[string]*jsonschema.Schema // of the references that were followed
	problems []string
}

func (v *violations) add(path, text string) {
	problem := path + ": " + text
	if !slices.Contains(v.problems, problem) && len(v.problems) < yamldoc.MaxProblems {
		v.problems = append(v.problems, problem)
	}
}

// walk checks a value against a schema, and then what is in it.
func (v *violations) walk(schema *jsonschema.Schema, value any, path string, depth int) {
	if schema == nil || depth > yamldoc.MaxDepth || len(v.problems) >= yamldoc.MaxProblems {
		return
	}
	if schema.Ref != "" {
		v.walk(v.target(schema.Ref), value, path, depth+1)
		if v.root.Schema == draft7 {
			return
		}
	}
	for _, part := range schema.AllOf {
		v.walk(part, value, path, depth+1)
	}
	if schema.If != nil {
		then := schema.Then
		if !v.fits(*schema.If, value) {
			then = schema.Else
		}
		v.walk(then, value, path, depth+1)
	}
	for _, rule := range rules(schema, value) {
		if !v.fits(rule.schema, value) {
			v.add(path, rule.message)
			if rule.schema.Type != "" || rule.schema.Types != nil {
				return
			}
		}
	}
	switch value := value.(type) {
	case map[string]any:
		v.fields(schema, value, path, depth)
	case []any:
		for i, item := range value {
			v.walk(itemSchema(schema, i), item, fmt.Sprintf("%s[%d]", path, i), depth+1)
		}
	}
}

// fits asks the validator.
func (v *violations) fits(schema jsonschema.Schema, value any) bool {
	schema.ID, schema.Schema, schema.Defs, schema.Definitions = "", v.root.Schema, v.root.Defs, v.root.Definitions
	resolved, err := schema.CloneSchemas().Resolve(nil)
	// A part that cannot stand alone is left to the schema as a whole.
	return err != nil || resolved.Validate(value) == nil
}

// fields walks what is in an object.
func (v *violations) fields(schema *jsonschema.Schema, value map[string]any, path string, depth int) {
	for _, name := range schema.Required {
		if _, ok := value[name]; !ok {
			v.add(path+"."+name, "required")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(value)) {
		below := path + "." + key
		named, ok := schema.Properties[key]
		v.walk(named, value[key], below, depth+1)
		for pattern, s := range schema.PatternProperties {
			if matches, err := regexp.MatchString(pattern, key); err == nil && matches {
				ok = true
				v.walk(s, value[key], below, depth+1)
			}
		}
		switch {
		case ok || schema.AdditionalProperties == nil:
		case never(schema.AdditionalProperties):
			v.add(below, "unknown")
		default:
			v.walk(schema.AdditionalProperties, value[key], below, depth+1)
		}
	}
}

// itemSchema is the schema of an item of a list.
func itemSchema(schema *jsonschema.Schema, i int) *jsonschema.Schema {
	for _, items := range [][]*jsonschema.Schema{schema.PrefixItems, schema.ItemsArray} {
		if i < len(items) {
			return items[i]
		}
	}
	if len(schema.ItemsArray) > 0 {
		return schema.AdditionalItems
	}
	return schema.Items
}

// never says whether a schema is false.
func never(schema *jsonschema.Schema) bool {
	text, err := json.Marshal(schema)
	return err == nil && string(text) == "false"
}

// target is the schema that a local reference names, or nil.
func (v *violations) target(reference string) *jsonschema.Schema {
	if reference == "#" {
		return v.root
	}
	if known, is := v.targets[reference]; is {
		return known
	}
	v.targets[reference] = nil
	node := v.written.target(reference)
	if _, failed := node.(error); failed {
		return nil
	}
	target := &jsonschema.Schema{}
	if text, err := json.Marshal(node); err == nil && json.Unmarshal(text, target) == nil {
		v.targets[reference] = target
	}
	return v.targets[reference]
}

// rule is a part of a schema, and what to say of a value that does not fit it.
type rule struct {
	schema  jsonschema.Schema
	message string
}

// rules are the parts of a schema that are about a value itself.
func rules(s *jsonschema.Schema, value any) (rules []rule) {
	add := func(is bool, schema jsonschema.Schema, format string, args ...any) {
		if is {
			rules = append(rules, rule{schema, fmt.Sprintf(format, args...)})
		}
	}
	types := s.Types
	if s.Type != "" {
		types = []string{s.Type}
	}
	add(types != nil, jsonschema.Schema{Type: s.Type, Types: s.Types}, "must be %s, is %s", strings.Join(types, " or "),
		written(value))
	add(s.Enum != nil, jsonschema.Schema{Enum: s.Enum}, "must be one of %s, is %s", written(s.Enum), written(value))
	if s.Const != nil {
		add(true, jsonschema.Schema{Const: s.Const}, "must be %s, is %s", written(*s.Const), written(value))
	}
	if n := s.Minimum; n != nil {
		add(true, jsonschema.Schema{Minimum: n}, "must be at least %v, is %s", *n, written(value))
	}
	if n := s.Maximum; n != nil {
		add(true, jsonschema.Schema{Maximum: n}, "must be at most %v, is %s", *n, written(value))
	}
	if n := s.ExclusiveMinimum; n != nil {
		add(true, jsonschema.Schema{ExclusiveMinimum: n}, "must be more than %v, is %s", *n, written(value))
	}
	if n := s.ExclusiveMaximum; n != nil {
		add(true, jsonschema.Schema{ExclusiveMaximum: n}, "must be less than %v, is %s", *n, written(value))
	}
	add(s.MultipleOf != nil, jsonschema.Schema{MultipleOf: s.MultipleOf}, "must be a multiple of %s, is %s",
		written(s.MultipleOf), written(value))
	add(s.Pattern != "", jsonschema.Schema{Pattern: s.Pattern}, "must match %s, is %s", s.Pattern, written(value))
	add(s.MinLength != nil || s.MaxLength != nil, jsonschema.Schema{MinLength: s.MinLength, MaxLength: s.MaxLength},
		"must have %s characters, is %s", between(s.MinLength, s.MaxLength), written(value))
	add(s.MinItems != nil || s.MaxItems != nil, jsonschema.Schema{MinItems: s.MinItems, MaxItems: s.MaxItems},
		"must have %s items", between(s.MinItems, s.MaxItems))
	add(s.MinProperties != nil || s.MaxProperties != nil,
		jsonschema.Schema{MinProperties: s.MinProperties, MaxProperties: s.MaxProperties},
		"must have %s keys", between(s.MinProperties, s.MaxProperties))
	add(s.UniqueItems, jsonschema.Schema{UniqueItems: true}, "must not have an item twice")
	add(s.Contains != nil, jsonschema.Schema{
		Contains: s.Contains, MinContains: s.MinContains,
		MaxContains: s.MaxContains,
	}, "lacks an item that the schema asks for")
	add(s.PropertyNames != nil, jsonschema.Schema{PropertyNames: s.PropertyNames},
		"has a key that the schema does not allow")
	add(s.AnyOf != nil, jsonschema.Schema{AnyOf: s.AnyOf}, "fits none of the alternatives of the schema")
	add(s.OneOf != nil, jsonschema.Schema{OneOf: s.OneOf}, "must fit exactly one of the alternatives of the schema")
	add(s.Not != nil, jsonschema.Schema{Not: s.Not}, "is what the schema excludes: %s", written(value))
	add(true, jsonschema.Schema{
		DependentRequired: s.DependentRequired, DependentSchemas: s.DependentSchemas,
		DependencySchemas: s.DependencySchemas, DependencyStrings: s.DependencyStrings,
	}, "lacks what another value asks for")
	return rules
}

// written is a value as JSON, shortened.
func written(value any) string {
	const most = 100
	text, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	if len(text) > most {
		return strings.ToValidUTF8(string(text[:most]), "") + "…"
	}
	return string(text)
}

// between is a range of numbers.
func between(least, most *int) string {
	switch {
	case least == nil && most == nil:
		return ""
	case most == nil:
		return fmt.Sprintf("at least %d", *least)
	case least == nil:
		return fmt.Sprintf("at most %d", *most)
	}
	return fmt.Sprintf("%d to %d", *least, *most)
}
