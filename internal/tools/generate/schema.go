package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/fault"
)

const (
	module    = "github.com/berthdev/berth"
	documents = "api/v1" // the directory, from the top of the checkout
	schemaURL = "https://berth.dev/schema/v1/"
	// knownValues is the keyword for the values that there are now: see open.
	knownValues = "x-known-values"
)

// schemas writes the JSON Schema of each kind of document.
func schemas(all files) error {
	documents, err := documentSchemas()
	for _, schema := range documents {
		if err == nil {
			err = write(all, schema.Title, schema)
		}
	}
	return err
}

// documentSchemas makes a JSON Schema of each kind of document that berth prints. They say what is there and allow
// more, because documents may grow.
func documentSchemas() ([]*jsonschema.Schema, error) {
	values, err := constants(documents)
	if err != nil {
		return nil, err
	}
	reflector := &jsonschema.Reflector{
		Anonymous:                 true,
		AllowAdditionalProperties: true,
		ExpandedStruct:            true,
		Mapper: func(t reflect.Type) *jsonschema.Schema {
			if enum := values[t.Name()]; enum != nil {
				return open(enum)
			}
			return nil
		},
	}
	if err := addComments(reflector, documents); err != nil {
		return nil, err
	}
	var all []*jsonschema.Schema
	for _, document := range printed() {
		kind := reflect.TypeOf(document).Name()
		schema := reflector.Reflect(document)
		schema.ID = jsonschema.ID(schemaURL + kind + ".json")
		schema.Title = kind
		schema.Description = reflector.CommentMap[module+"/"+documents+"."+kind]
		finish(kind, schema)
		for name, definition := range schema.Definitions {
			finish(name, definition)
		}
		all = append(all, schema)
	}
	return all, nil
}

// printed are all documents.
func printed() []any {
	return []any{
		v1.Blueprint{},
		v1.BlueprintCheck{},
		v1.BlueprintConversion{},
		v1.BlueprintList{},
		v1.BundleContent{},
		v1.BundleDiff{},
		v1.BundleHistory{},
		v1.BundleInstallation{},
		v1.BundleReconciliation{},
		v1.BundleRemoval{},
		v1.BundleState{},
		v1.BundleStateList{},
		v1.Checkup{},
		v1.CopyResult{},
		v1.Deletion{},
		v1.DeletionSummary{},
		v1.Stop{},
		v1.StateSummary{},
		v1.WorkspaceReconciliation{},
		v1.Diagnosis{},
		v1.Error{},
		v1.Event{},
		v1.Explanation{},
		v1.ExplanationList{},
		v1.Job{},
		v1.JobList{},
		v1.JobStats{},
		v1.PortForward{},
		v1.ProvisionSummary{},
		v1.Resolution{},
		v1.SSHConfiguration{},
		v1.Version{},
		v1.Volume{},
		v1.VolumeFiles{},
		v1.VolumeList{},
		v1.VolumePurge{},
		v1.VolumeRestoration{},
		v1.Workspace{},
		v1.WorkspaceList{},
	}
}

// addComments makes the comments of a package the descriptions, on one line.
func addComments(reflector *jsonschema.Reflector, dir string) error {
	if err := reflector.AddGoComments(module, dir, jsonschema.WithFullComment()); err != nil {
		return err
	}
	for name, comment := range reflector.CommentMap {
		reflector.CommentMap[name] = strings.Join(strings.Fields(comment), " ")
	}
	return nil
}

func write(all files, name string, schema *jsonschema.Schema) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(schema); err != nil {
		return err
	}
	all["docs/schema/"+name+".json"] = b.Bytes()
	return nil
}

// finish says what the types alone do not: what a document calls itself, and the codes of errors.
func finish(name string, schema *jsonschema.Schema) {
	if schema.Properties == nil {
		return
	}
	if kind, ok := schema.Properties.Get("kind"); ok {
		kind.Const = name
	}
	if version, ok := schema.Properties.Get("apiVersion"); ok {
		version.Const = v1.APIVersion
	}
	if code, ok := schema.Properties.Get("code"); ok && name == "Error" {
		var known []any
		for _, m := range fault.Table() {
			for _, c := range m.Codes {
				known = append(known, string(c))
			}
		}
		code.Extras = open(known).Extras
	}
}

// open is a word of which the values are known that there are now. It is no enum: a later version may print others, and
// a reader that checks documents against the schema of today must accept them.
func open(known []any) *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Extras: map[string]any{knownValues: known}}
}

// constants finds the values of the string types in a package: those of Stage, for example.
func constants(dir string) (map[string][]any, error) {
	names, err := filepath.Glob(dir + "/*.go")
	if err != nil {
		return nil, err
	}
	values := map[string][]any{}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.ValueSpec); ok {
				addConstants(values, spec)
			}
			return true
		})
	}
	return values, nil
}

// addConstants adds what is declared as `Name Type = "value"`.
func addConstants(values map[string][]any, spec *ast.ValueSpec) {
	typ, ok := spec.Type.(*ast.Ident)
	if !ok {
		return
	}
	for _, value := range spec.Values {
		literal, ok := value.(*ast.BasicLit)
		if !ok {
			continue
		}
		if text, err := strconv.Unquote(literal.Value); err == nil {
			values[typ.Name] = append(values[typ.Name], text)
		}
	}
}
