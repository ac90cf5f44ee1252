package main

import (
	"bytes"
	"path"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/schematest"
)

// Every document has an example that was really printed and still fits what is printed now, to the last field.
func TestOutputExamples(t *testing.T) {
	atTop(t)
	all, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	for name := range all {
		kind, schema := strings.CutSuffix(path.Base(name), ".json")
		if !schema || path.Dir(name) != "docs/schema" || kind == "blueprints" || kind == "custom-blueprint" ||
			kind == "users" {
			continue
		}
		t.Run(kind, func(t *testing.T) {
			if text, err := examples.ReadFile("examples/" + kind + ".json"); err == nil {
				check(t, kind, text)
				return
			}
			text, err := examples.ReadFile("examples/" + kind + ".jsonl")
			if err != nil {
				t.Fatalf("docs/output.md has no example of %s: put what berth prints into examples/%s.json", kind, kind)
			}
			schematest.ValidateLines(t, text)
		})
		if !bytes.Contains(all[outputPage], []byte("\n## "+kind+"\n")) {
			t.Errorf("%s does not explain %s", outputPage, kind)
		}
	}
}

func check(t *testing.T, kind string, text []byte) {
	t.Helper()
	if !bytes.Contains(text, []byte(`"kind": "`+kind+`"`)) {
		t.Errorf("the example is not of kind %s", kind)
	}
	schematest.Validate(t, text)
}

// A field of each sort, as the page shows it.
func TestOutputFields(t *testing.T) {
	atTop(t)
	all, err := generated()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"| `kind` | string, always | `Workspace` |",
		"| `containers` | list of [Container](#container) | ",
		"Known values: `Scheduling`, `Pulling`,",
		"### Warning\n",
		"berth status alice~dev -o jsonpath='{.stage}'",
	} {
		if !bytes.Contains(all[outputPage], []byte(line)) {
			t.Errorf("%s does not have %q", outputPage, line)
		}
	}
}
