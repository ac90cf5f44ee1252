// Package schema checks the values of a chart against its values.schema.json. Helm's validator
// compiles the schemas of all drafts whenever a program starts that is linked with it; a test
// compares the two.
package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/berthdev/berth/internal/chart/manifest"
)

// The drafts that the validator knows.
const (
	draft7    = "http://json-schema.org/draft-07/schema#"
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
)

// Check gives everything in which values do not fit a schema, each with its path:
// ".image.tag: must be string, is 1". Outside are the references to other documents, or by a name, which are not
// followed: what is there is not checked. The error says why the schema cannot be used.
func Check(text []byte, values map[string]any) (problems, outside []string, err error) {
	schema, outside, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	problems, err = check(schema, values)
	return problems, outside, err
}

func check(schema *jsonschema.Schema, values map[string]any) (problems []string, err error) {
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	// Values of JSON alone, as the validator expects them.
	var plain any
	written, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(written, &plain)
	}
	if err != nil {
		return nil, err
	}
	whole := resolved.Validate(plain)
	if whole == nil {
		return nil, nil
	}
	v := &violations{root: schema, targets: map[string]*jsonschema.Schema{}}
	if written, err = json.Marshal(schema); err == nil {
		err = json.Unmarshal(written, &v.written.root)
	}
	if err != nil {
		return nil, err
	}
	v.walk(schema, plain, "", 0)
	if len(v.problems) == 0 {
		// It is in a place that the walk does not reach.
		return []string{": " + reason(whole)}, nil
	}
	return v.problems, nil
}

// reason is what the validator says in the end, without the way to it.
func reason(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "validating "); i >= 0 {
		if _, said, ok := strings.Cut(text[i:], ": "); ok {
			return said
		}
	}
	return text
}

// parse reads a schema of any draft, without its references to what is outside.
func parse(text []byte) (schema *jsonschema.Schema, outside []string, err error) {
	if problem := manifest.Bomb(text); problem != "" {
		return nil, nil, fmt.Errorf("%s", problem)
	}
	var raw any
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, nil, err
	}
	switch fields := raw.(type) {
	case bool:
	default:
		return nil, nil, errors.New("must be an object")
	case map[string]any:
		draft, _ := fields["$schema"].(string)
		switch {
		case strings.Contains(draft, "draft-04"):
			oldBounds(raw)
			fallthrough
		case strings.Contains(draft, "draft-06"), strings.Contains(draft, "draft-07"):
			fields["$schema"] = draft7
		default:
			// As for Helm, a schema that names no draft follows the newest one.
			fields["$schema"] = draft2020
		}
	}
	r := &references{root: raw, applied: map[uintptr]int{}}
	if outside, err = r.settle(); err != nil {
		return nil, nil, err
	}
	if err := r.check(raw); err != nil {
		return nil, nil, err
	}
	if text, err = json.Marshal(raw); err != nil {
		return nil, nil, err
	}
	schema = &jsonschema.Schema{}
	return schema, outside, json.Unmarshal(text, schema)
}

// oldBounds writes the bounds of draft 4, where exclusive ones are true or false, as later
// drafts do.
func oldBounds(node any) {
	switch node := node.(type) {
	case map[string]any:
		for exclusive, bound := range map[string]string{"exclusiveMinimum": "minimum", "exclusiveMaximum": "maximum"} {
			if is, ok := node[exclusive].(bool); ok {
				delete(node, exclusive)
				if is {
					node[exclusive] = node[bound]
				}
			}
		}
		for _, below := range node {
			oldBounds(below)
		}
	case []any:
		for _, below := range node {
			oldBounds(below)
		}
	}
}
