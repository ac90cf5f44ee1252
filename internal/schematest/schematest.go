// Package schematest checks what berth prints against docs/schema. The schemas
// allow fields that they do not name, since documents grow; here, where the
// documents come from this very checkout, a field without a schema is an error, as
// is a word that x-known-values does not name.
package schematest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Validate checks a document, as --output json prints it.
func Validate(t testing.TB, doc []byte) {
	t.Helper()
	if err := validate(doc); err != nil {
		t.Errorf("%v\n%s", err, doc)
	}
}

// ValidateLines checks a stream, as --output jsonl prints it: events, and then
// the one document that is the result; or, of a list, its items and no events.
func ValidateLines(t testing.TB, stream []byte) {
	t.Helper()
	lines := bytes.Split(bytes.TrimSuffix(stream, []byte("\n")), []byte("\n"))
	events := bytes.Contains(stream, []byte(`"kind":"Event"`))
	for i, line := range lines {
		Validate(t, line)
		kind, err := kindOf(line)
		if err != nil {
			return // has been said
		}
		if last := i == len(lines)-1; events && last == (kind == "Event") {
			t.Errorf("line %d of %d is of kind %s; all are events except the last", i+1, len(lines), kind)
		}
	}
}

func validate(doc []byte) error {
	kind, err := kindOf(doc)
	if err != nil {
		return err
	}
	schema, err := compile(kind)
	if err != nil {
		return err
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return fmt.Errorf("it is not one JSON document: %w", err)
	}
	return schema.Validate(value)
}

func kindOf(doc []byte) (string, error) {
	var meta struct {
		Kind string `json:"kind"`
	}
	if err := json.Unmarshal(doc, &meta); err != nil {
		return "", fmt.Errorf("it is not one JSON document: %w", err)
	}
	if meta.Kind == "" {
		return "", errors.New("the document does not say of what kind it is")
	}
	return meta.Kind, nil
}

func compile(kind string) (*jsonschema.Schema, error) {
	root, err := checkout()
	if err != nil {
		return nil, err
	}
	file, err := os.Open(filepath.Join(root, "docs", "schema", kind+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no schema of kind %q", kind)
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	schema, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		return nil, err
	}
	closeObjects(schema)
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.AssertFormat()
	name := kind + ".json"
	if err := compiler.AddResource(name, schema); err != nil {
		return nil, err
	}
	return compiler.Compile(name)
}

// closeObjects allows no fields but those with a schema, and no words but those
// that it names.
func closeObjects(schema any) {
	switch s := schema.(type) {
	case map[string]any:
		if _, ok := s["properties"].(map[string]any); ok && s["type"] == "object" {
			s["additionalProperties"] = false
		}
		if known, ok := s["x-known-values"]; ok {
			s["enum"] = known
		}
		for _, inner := range s {
			closeObjects(inner)
		}
	case []any:
		for _, inner := range s {
			closeObjects(inner)
		}
	}
}

// checkout finds the top of the checkout, above the package that is tested.
func checkout() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "docs", "schema")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no docs/schema in or above the working directory")
		}
		dir = parent
	}
}
