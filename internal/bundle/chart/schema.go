package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	helmchart "helm.sh/helm/v3/pkg/chart"

	"github.com/berthdev/berth/internal/bundle/manifest"
)

// The drafts that the validator knows.
const (
	draft7    = "http://json-schema.org/draft-07/schema#"
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
)

// checkSchemas checks the values of a chart and its subcharts against their schemas. The
// problems are all of them.
func (r *Rendered) checkSchemas(c *helmchart.Chart, values map[string]any, prefix string) (problems []string) {
	if c.Schema != nil {
		for _, problem := range r.checkSchema(c, values) {
			problems = append(problems, strings.TrimPrefix(prefix+problem, "."))
		}
	}
	for _, sub := range c.Dependencies() {
		// coalescing has made sure that they are a table.
		if below, ok := values[sub.Name()].(map[string]any); ok {
			problems = append(problems, r.checkSchemas(sub, below, prefix+"."+sub.Name())...)
		}
	}
	return problems
}

// checkSchema checks the values of one chart.
func (r *Rendered) checkSchema(c *helmchart.Chart, values map[string]any) []string {
	file := c.ChartFullPath() + "/values.schema.json"
	schema, err := parseSchema(c.Schema)
	if outside := outsideError(""); errors.As(err, &outside) {
		r.warn("%s: the values are not checked, as %v, which is not followed", file, outside)
		return nil
	}
	if err != nil {
		return []string{fmt.Sprintf(": %s: %v", file, err)}
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return []string{fmt.Sprintf(": %s: %v", file, err)}
	}
	// Values of JSON alone: what a template has is the same.
	var plain any
	if text, err := json.Marshal(values); err != nil || json.Unmarshal(text, &plain) != nil {
		return []string{": the values cannot be written as JSON"}
	}
	whole := resolved.Validate(plain)
	if whole == nil {
		return nil
	}
	f := &violations{root: schema}
	f.walk(schema, plain, "", 0)
	if len(f.problems) == 0 {
		// It is in a place that the walk does not reach.
		return []string{": " + reason(whole)}
	}
	return f.problems
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

// parseSchema reads a schema of any draft.
func parseSchema(text []byte) (*jsonschema.Schema, error) {
	if problem := manifest.Bomb(text); problem != "" {
		return nil, fmt.Errorf("%s", problem)
	}
	var raw any
	if err := json.Unmarshal(text, &raw); err != nil {
		return nil, err
	}
	switch fields := raw.(type) {
	case bool:
	default:
		return nil, errors.New("must be an object")
	case map[string]any:
		draft, _ := fields["$schema"].(string)
		switch {
		case strings.Contains(draft, "draft-04"):
			oldBounds(raw)
			fallthrough
		case strings.Contains(draft, "draft-06"), strings.Contains(draft, "draft-07"):
			fields["$schema"] = draft7
		default:
			// As for Helm, the newest draft is meant where none is named.
			fields["$schema"] = draft2020
		}
	}
	if err := (&references{root: raw, applied: map[uintptr]int{}}).check(raw); err != nil {
		return nil, err
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return nil, err
	}
	schema := &jsonschema.Schema{}
	return schema, json.Unmarshal(text, schema)
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
