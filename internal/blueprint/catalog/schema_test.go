package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/yamldoc"
)

const schemaFile = "../../../docs/schema/blueprints.json"

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	compiled, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func validateSchema(t *testing.T, text []byte) error {
	t.Helper()
	var doc any
	if err := yaml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(asJSON)))
	if err != nil {
		t.Fatal(err)
	}
	return schema(t).Validate(value)
}

// What berth takes, an editor with the schema takes.
func TestSchemaTakesWhatIsGood(t *testing.T) {
	files := map[string][]byte{"built in": builtin, "layers": []byte(layers)}
	paths, err := filepath.Glob("../../../test/e2e/testdata/blueprints/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range append(paths, "../../../docs/blueprints.md") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, after, ok := strings.Cut(string(text), "```yaml\n"); ok && strings.HasSuffix(path, ".md") {
			example, _, _ := strings.Cut(after, "```")
			text = []byte(example)
		}
		files[path] = text
	}
	for name, text := range files {
		if err := validateSchema(t, text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		set, err := Builtin()
		if err != nil {
			t.Fatal(err)
		}
		clear(set.entries)
		if problems := set.add(blueprint.Source{Name: name, Text: text}); len(problems) > 0 {
			t.Errorf("%s: %q", name, problems)
		}
	}
}

func TestSchemaRefusesWhatIsNot(t *testing.T) {
	for _, text := range []string{
		"blueprints: [{image: a}]",
		"blueprints: [{name: a, imge: b}]",
		"blueprints: [{name: a, network: {networkPolicyClass: open}}]",
		"blueprints: [{name: a, podman: {on: true}}]",
		"blueprints: [{name: a, imagePullPolicy: Sometimes}]",
		"blueprints: [{name: a, storages: {x: {type: nfs, path: /a}}}]",
		"blueprints: [{name: a, env: [b]}]",
		"blueprints: [{name: a, limits: {maxActiveHours: -1}}]",
		"blueprints: [{name: a, limits: {maxIdleHours: 1}}]",
		"blueprnts: []",
	} {
		if validateSchema(t, []byte(text)) == nil {
			t.Errorf("%s is taken for good", text)
		}
	}
}

// Each field of the structs is in the schema, with a description.
func TestSchemaIsComplete(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	type object struct {
		Properties map[string]struct{ Description string }
	}
	var document struct {
		Defs map[string]object `json:"$defs"`
	}
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	for _, typ := range []reflect.Type{
		reflect.TypeFor[blueprint.Blueprint](), reflect.TypeFor[blueprint.Resources](),
		reflect.TypeFor[blueprint.Storage](), reflect.TypeFor[blueprint.InitScript](),
		reflect.TypeFor[blueprint.K8shelld](), reflect.TypeFor[blueprint.Network](),
		reflect.TypeFor[blueprint.EgressPods](), reflect.TypeFor[blueprint.Podman](),
		reflect.TypeFor[blueprint.Limits](),
	} {
		fields, properties := yamldoc.Fields(typ), document.Defs[typ.Name()].Properties
		for name := range fields {
			if properties[name].Description == "" {
				t.Errorf("%s: field %s is not in the schema, or without a description", typ.Name(), name)
			}
		}
		if len(fields) != len(properties) {
			t.Errorf("%s has %d fields, the schema %d", typ.Name(), len(fields), len(properties))
		}
	}
}
