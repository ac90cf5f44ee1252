package printer

import (
	"strings"

	"k8s.io/client-go/util/jsonpath"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/third_party/template"
)

type formatKind string

const (
	formatText     formatKind = "text"
	formatWide     formatKind = "wide"
	formatName     formatKind = "name"
	formatJSON     formatKind = "json"
	formatYAML     formatKind = "yaml"
	formatJSONL    formatKind = "jsonl"
	formatJSONPath formatKind = "jsonpath"
	formatTemplate formatKind = "go-template"
)

// Format is a parsed value of --output. The zero value is text.
type Format struct {
	kind     formatKind
	path     *jsonpath.JSONPath
	template *template.Template
}

// IsText says whether the result is meant for people.
func (f Format) IsText() bool { return f.kind == "" || f.kind == formatText || f.kind == formatWide }

// IsName says whether only names are to be printed.
func (f Format) IsName() bool { return f.kind == formatName }

// IsJSON says whether the document is to be JSON.
func (f Format) IsJSON() bool { return f.kind == formatJSON }

// IsJSONL says whether each line is to be a document of its own.
func (f Format) IsJSONL() bool { return f.kind == formatJSONL }

// isDocument says whether an error is to be a document, too.
func (f Format) isDocument() bool {
	return f.kind == formatJSON || f.kind == formatYAML || f.kind == formatJSONL
}

// isExpression says whether the document is evaluated.
func (f Format) isExpression() bool { return f.kind == formatJSONPath || f.kind == formatTemplate }

// ParseFormat reads a value of --output. Expressions are checked now, before
// anything is done.
func ParseFormat(s string) (Format, error) {
	kind, expression, given := strings.Cut(s, "=")
	f := Format{kind: formatKind(kind)}
	switch {
	case s == "":
		return Format{kind: formatText}, nil
	case f.kind == formatJSONPath:
		return f.withPath(expression)
	case f.kind == formatTemplate:
		return f.withTemplate(expression)
	case given:
		return Format{}, unknownFormat(s)
	}
	switch f.kind {
	case formatText, formatWide, formatName, formatJSON, formatYAML, formatJSONL:
		return f, nil
	}
	return Format{}, unknownFormat(s)
}

func unknownFormat(s string) error {
	return fault.New(fault.InvalidArgument, "unknown output format %q", s).
		WithHint("--output must be one of: text, json, yaml, jsonl, wide, name, jsonpath=…, go-template=…")
}

func (f Format) withPath(expression string) (Format, error) {
	if expression == "" {
		return Format{}, fault.New(fault.InvalidArgument, "output format jsonpath requires an expression").
			WithHint("for example: --output jsonpath='{.id}'")
	}
	f.path = jsonpath.New("output").AllowMissingKeys(true)
	if err := f.path.Parse(relaxed(expression)); err != nil {
		return Format{}, fault.New(fault.InvalidArgument, "jsonpath %q: %w", expression, err).
			WithHint("for example: --output jsonpath='{.items[*].id}'")
	}
	return f, nil
}

func (f Format) withTemplate(expression string) (Format, error) {
	if expression == "" {
		return Format{}, fault.New(fault.InvalidArgument, "output format go-template requires a template").
			WithHint("for example: --output go-template='{{.id}}'")
	}
	t, err := template.New("output").Parse(expression)
	if err != nil {
		return Format{}, fault.New(fault.InvalidArgument, "go-template %q: %w", expression, err).
			WithHint("for example: --output go-template='{{range .items}}{{.id}}{{\"\\n\"}}{{end}}'")
	}
	f.template = t
	return f, nil
}

// relaxed lets one write .id or id for {.id}, as kubectl does.
func relaxed(expression string) string {
	if strings.Contains(expression, "{") {
		return expression
	}
	return "{." + strings.TrimPrefix(expression, ".") + "}"
}
