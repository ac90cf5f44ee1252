package release

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"helm.sh/helm/v3/pkg/chart"
	"sigs.k8s.io/yaml"
)

// functions are those of Helm's that the embedded chart uses.
func functions(root *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			var text strings.Builder
			err := root.ExecuteTemplate(&text, name, data)
			return text.String(), err
		},
		"toYaml": func(v any) (string, error) {
			text, err := yaml.Marshal(v)
			return strings.TrimSuffix(string(text), "\n"), err
		},
		"nindent": func(spaces int, text string) string {
			indent := "\n" + strings.Repeat(" ", spaces)
			return indent + strings.ReplaceAll(text, "\n", indent)
		},
		"quote": func(v any) string {
			if v == nil {
				return ""
			}
			return fmt.Sprintf("%q", fmt.Sprint(v))
		},
		"default": func(otherwise, v any) any {
			if truth, _ := template.IsTrue(v); !truth {
				return otherwise
			}
			return v
		},
		"add":    add,
		"list":   func(items ...any) []any { return items },
		"append": func(list []any, item any) []any { return append(slices.Clip(list), item) },
		"trim":   strings.TrimSpace,
		"trunc":  func(n int, text string) string { return text[:min(n, len(text))] },
		"sha256sum": func(text string) string {
			sum := sha256.Sum256([]byte(text))
			return hex.EncodeToString(sum[:])
		},
	}
}

// add adds whole numbers as templates, YAML and JSON have them.
func add(a, b any) (total int64, err error) {
	for _, n := range []any{a, b} {
		switch n := n.(type) {
		case int:
			total += int64(n)
		case int64:
			total += n
		case float64:
			total += int64(n)
		default:
			return 0, fmt.Errorf("%v is not a number", n)
		}
	}
	return total, nil
}

// files are those of the chart that are not templates.
type files []*chart.File

// Get is the content of a file; empty if there is none of that name.
func (f files) Get(name string) string {
	for _, file := range f {
		if file.Name == name {
			return string(file.Data)
		}
	}
	return ""
}
