package schema_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/berthdev/berth/internal/chart/schema"
)

func TestCheck(t *testing.T) {
	for name, test := range map[string]struct {
		schema, values string
		want, outside  []string
		unchecked      bool // Helm is stricter, or fetches what is referred to
	}{
		"fits": {schema: `{"type":"object","properties":{"a":{"type":"integer"}}}`, values: `{"a":1,"b":2}`},
		"all at once": {
			schema: `{"$schema":"http://json-schema.org/draft-07/schema#",
				"type":"object","required":["name"],"additionalProperties":false,
				"properties":{
					"replicas":{"type":"integer","minimum":1},
					"image":{"$ref":"#/definitions/image"},
					"ports":{"type":"array","items":{"type":"object","properties":{"port":{"type":"integer"}}}}},
				"patternProperties":{"^x-":{"type":"string"}},
				"definitions":{"image":{"type":"object","required":["repository"],
					"properties":{"tag":{"type":"string","pattern":"^v"}}}}}`,
			values: `{"replicas":0,"image":{"tag":"1"},"ports":[{"port":1},{"port":"x"}],"x-a":1,"extra":true}`,
			want: []string{
				".name: required",
				".extra: unknown",
				".image.repository: required",
				`.image.tag: must match ^v, is "1"`,
				`.ports[1].port: must be integer, is "x"`,
				".replicas: must be at least 1, is 0",
				".x-a: must be string, is 1",
			},
		},
		"any of": {
			schema: `{"properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]},"b":{"$ref":"#/$defs/b"}},
				"$defs":{"b":{"oneOf":[{"$ref":"#/$defs/c"},{"const":1}]},"c":{"type":"string"}}}`,
			values: `{"a":1,"b":2}`,
			want: []string{
				".a: fits none of the alternatives of the schema",
				".b: must fit exactly one of the alternatives of the schema",
			},
		},
		"condition": {
			schema: `{"if":{"properties":{"a":{"const":1}}},"then":{"required":["b"]}}`,
			values: `{"a":1}`, want: []string{".b: required"},
		},
		"draft 4": {
			schema: `{"$schema":"http://json-schema.org/draft-04/schema#",
				"properties":{"a":{"minimum":1,"exclusiveMinimum":true}}}`,
			values: `{"a":1}`, want: []string{".a: must be more than 1, is 1"},
		},
		"any draft": {
			schema: `{"$schema":"http://json-schema.org/schema#","properties":{"a":{"type":"string"}}}`,
			values: `{"a":1}`, want: []string{".a: must be string, is 1"},
		},
		"deep reference": {
			schema: `{"properties":{"a":{"type":"string"},"b":{"$ref":"#/properties/a"}}}`,
			values: `{"b":1}`, want: []string{".b: must be string, is 1"},
		},
		"a reference through a definition": {
			schema: `{"properties":{"a":{"$ref":"#/definitions/b/properties/c"}},
				"definitions":{"b":{"properties":{"c":{"minimum":3}}}}}`,
			values: `{"a":1}`, want: []string{".a: must be at least 3, is 1"},
		},
		"a reference to the items": {
			schema: `{"properties":{"a":{"$ref":"#/items"}},"items":{"type":"string"}}`,
			values: `{"a":1}`, want: []string{".a: must be string, is 1"},
		},
		"a reference into a list": {
			schema: `{"properties":{"a":{"$ref":"#/anyOf/1"}},"anyOf":[{"type":"object"},{"type":"string"}]}`,
			values: `{"a":1}`, want: []string{".a: must be string, is 1"},
		},
		"an item that is wanted": {
			schema: `{"properties":{"a":{"contains":{"const":1}},"b":{"contains":{"const":1}}}}`,
			values: `{"a":[2],"b":[1,2]}`, want: []string{".a: lacks an item that the schema asks for"},
		},
		"all of": {
			schema: `{"allOf":[{"required":["a"]},{"required":["b"]}]}`, values: `{}`,
			want: []string{".a: required", ".b: required"},
		},
		"a reference to itself": {
			schema: `{"$ref":"#"}`, values: `{}`, unchecked: true,
			want: []string{"the schema refers to itself without end"},
		},
		"many alternatives": {
			schema: `{"$ref":"#/$defs/a","$defs":{
				"a":{"anyOf":[{"$ref":"#/$defs/b"},{"$ref":"#/$defs/b"}]},
				"b":{"allOf":[{"$ref":"#"},true]}}}`, values: `{}`,
			unchecked: true, want: []string{"the schema refers to itself without end"},
		},
		"another document": {
			schema: `{"properties":{"a":{"$ref":"https://example.com/a.json"}}}`, values: `{"a":1}`,
			unchecked: true, outside: []string{"https://example.com/a.json"},
		},
		"the rest beside another document": {
			schema:    `{"properties":{"a":{"$ref":"https://example.com/a.json"},"b":{"type":"integer"}}}`,
			values:    `{"a":1,"b":"x"}`,
			unchecked: true, outside: []string{"https://example.com/a.json"},
			want: []string{`.b: must be integer, is "x"`},
		},
		"definitions of an old draft and of a new one": {
			schema: `{"definitions":{
					"a":{"type":"integer"},"c":{"$ref":"#/definitions/a"},"net":{"port":{"minimum":1}}},
				"$defs":{"a":{"type":"string"},"b":{"$ref":"#/definitions/c"}},
				"properties":{"a":{"$ref":"#/definitions/a"},"b":{"$ref":"#/$defs/b"},
					"c":{"$ref":"#/$defs/a"},"d":{"$ref":"#/definitions/net/port"}}}`,
			values: `{"a":"x","b":"y","c":1,"d":0}`,
			want: []string{
				`.a: must be integer, is "x"`, `.b: must be integer, is "y"`, ".c: must be string, is 1",
				".d: must be at least 1, is 0",
			},
		},
		"a container beside definitions of the new draft": {
			schema: `{"$defs":{"a":{"type":"string"}},"made":{"up":{"type":"integer"}},
				"properties":{"a":{"$ref":"#/$defs/a"},"b":{"$ref":"#/made/up"}}}`,
			values: `{"a":1,"b":"x"}`,
			want:   []string{".a: must be string, is 1", `.b: must be integer, is "x"`},
		},
		"a definition in a container": {
			schema: `{"$schema":"http://json-schema.org/draft-07/schema#",
				"definitions":{"net":{"port":{"type":"integer"}}},
				"properties":{"port":{"$ref":"#/definitions/net/port"}}}`, values: `{"port":"x"}`,
			want: []string{`.port: must be integer, is "x"`},
		},
		"a definition in a place of its own, which refers to itself": {
			schema: `{"x-types":{"a/b":{"properties":{"below":{"$ref":"#/x-types/a~1b"},"n":{"type":"integer"}}}},
				"properties":{"top":{"$ref":"#/x-types/a~1b"}}}`, values: `{"top":{"below":{"below":{"n":"x"}}}}`,
			want: []string{`.top.below.below.n: must be integer, is "x"`},
		},
		"what is a value": {
			schema: `{"properties":{"a":{"const":{"$ref":"https://example.com"}}}}`,
			values: `{"a":{"$ref":"https://example.com"}}`,
		},
		"a missing part": {
			schema: `{"properties":{"a":{"$ref":"#/$defs/a"}}}`, values: `{"a":1}`,
			want: []string{"#/$defs/a is not in the schema"},
		},
		"an item behind the last one": {
			schema: `{"allOf":[{}],"properties":{"a":{"$ref":"#/allOf/1"}}}`, values: `{"a":1}`,
			want: []string{"#/allOf/1 is not in the schema"},
		},
		"an item before the first one": {
			schema: `{"allOf":[{}],"properties":{"a":{"$ref":"#/allOf/-1"}}}`, values: `{"a":1}`,
			want: []string{"#/allOf/-1 is not in the schema"},
		},
		"true":      {schema: `true`, values: `{}`},
		"no schema": {schema: `[]`, values: `{}`, want: []string{"must be an object"}},
		"no JSON":   {schema: `{`, values: `{}`, want: []string{"unexpected end of JSON input"}},
	} {
		t.Run(name, func(t *testing.T) {
			var values map[string]any
			if err := json.Unmarshal([]byte(test.values), &values); err != nil {
				t.Fatal(err)
			}
			got, outside, err := schema.Check([]byte(test.schema), values)
			if diff := cmp.Diff(test.outside, outside); diff != "" {
				t.Error(diff)
			}
			if err != nil {
				got = []string{err.Error()}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			if err := chartutil.ValidateAgainstSingleSchema(values,
				[]byte(test.schema)); (err == nil) != (len(got) == 0) &&
				!test.unchecked {
				t.Errorf("Helm says %v", err)
			}
		})
	}
}
