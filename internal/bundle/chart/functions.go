package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
	yamlv3 "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/berthdev/berth/internal/bundle/chart/budget"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Lookup finds an object of the cluster, or a list of them if name is empty. It is empty, and
// no error, if there is none.
type Lookup func(ctx context.Context, apiVersion, kind, namespace, name string) (map[string]any, error)

// messageError is what a chart itself says: by required and fail.
type messageError string

func (e messageError) Error() string { return string(e) }

// functions are those of Helm, but include, tpl and template. None of them asks anything but
// the cluster.
func functions(ctx context.Context, lookup Lookup) template.FuncMap {
	f := sprig.TxtFuncMap()
	delete(f, "env")
	delete(f, "expandenv")
	maps.Copy(f, merging(f))
	maps.Copy(f, comparisons())
	maps.Copy(f, template.FuncMap{
		// These are text/template's own: named here, they are bounded as the others are.
		"print": fmt.Sprint, "printf": fmt.Sprintf, "println": fmt.Sprintln,
		"html": template.HTMLEscaper, "js": template.JSEscaper, "urlquery": template.URLQueryEscaper,

		"getHostByName": func(string) string { return "" },
		"toToml":        toTOML,
		"fromToml":      tableFrom(toml.Unmarshal),
		"toYaml":        toYAML,
		"toYamlPretty":  toYAMLPretty,
		"fromYaml":      tableFrom(unmarshalYAML),
		"fromYamlArray": listFrom(unmarshalYAML),
		"toJson":        toJSON,
		"fromJson":      tableFrom(json.Unmarshal),
		"fromJsonArray": listFrom(json.Unmarshal),
		"required": func(message string, value any) (any, error) {
			if value == nil || value == "" {
				return value, messageError(message)
			}
			return value, nil
		},
		"fail": func(message string) (string, error) { return "", messageError(message) },
		"lookup": func(apiVersion, kind, namespace, name string) (map[string]any, error) {
			if lookup == nil {
				return map[string]any{}, nil
			}
			found, err := lookup(ctx, apiVersion, kind, namespace, name)
			if found == nil {
				found = map[string]any{}
			}
			return found, err
		},
	})
	return f
}

// What follows swallows errors, as Helm's functions do.

func toYAML(v any) string {
	text, err := yaml.Marshal(v)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(text), "\n")
}

func toYAMLPretty(v any) string {
	var text bytes.Buffer
	encoder := yamlv3.NewEncoder(&text)
	encoder.SetIndent(2)
	if encoder.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(text.String(), "\n")
}

func toJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

func toTOML(v any) string {
	var text bytes.Buffer
	if err := toml.NewEncoder(&text).Encode(v); err != nil {
		return err.Error()
	}
	return text.String()
}

func unmarshalYAML(text []byte, into any) error {
	if found := yamldoc.Bomb(text, budget.YAMLLimits(text)); found != nil {
		return messageError(found.Message)
	}
	return yaml.Unmarshal(text, into)
}

// tableFrom is a function that reads a table; what is wrong with the text is put into it.
func tableFrom(unmarshal func([]byte, any) error) func(string) map[string]any {
	return func(text string) map[string]any {
		table := map[string]any{}
		if err := unmarshal([]byte(text), &table); err != nil {
			table["Error"] = err.Error()
		}
		return table
	}
}

// listFrom is a function that reads a list; what is wrong with the text is its one item.
func listFrom(unmarshal func([]byte, any) error) func(string) []any {
	return func(text string) []any {
		list := []any{}
		if err := unmarshal([]byte(text), &list); err != nil {
			return []any{err.Error()}
		}
		return list
	}
}
