package chart

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
	yamlv3 "sigs.k8s.io/yaml/goyaml.v3"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/chart/chartutil"
	"github.com/berthdev/berth/internal/yamldoc"
	"github.com/berthdev/berth/third_party/template"
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
	f := template.FuncMap(sprig.TxtFuncMap())
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

// The functions of text/template that print what they cannot compare. Under these names they
// are bounded as the others are.
const (
	equalFunction    = "eq"
	notEqualFunction = "ne"
)

// comparisons are eq and ne.
func comparisons() template.FuncMap {
	return template.FuncMap{
		equalFunction: func(a any, others ...any) (bool, error) { return equal(a, others) },
		notEqualFunction: func(a, b any) (bool, error) {
			same, err := equal(a, []any{b})
			return !same && err == nil, err
		},
	}
}

// equal says whether a value is one of others.
func equal(a any, others []any) (bool, error) {
	for _, other := range others {
		same, plain := equalPlain(reflect.ValueOf(a), reflect.ValueOf(other))
		if !plain {
			return equalAny(append([]any{a}, others...))
		}
		if same {
			return true, nil
		}
	}
	if len(others) == 0 {
		return equalAny([]any{a})
	}
	return false, nil
}

// equalPlain compares texts, booleans and numbers of one kind, and what is missing, which most
// comparisons are of.
func equalPlain(a, b reflect.Value) (same, plain bool) {
	switch {
	case !a.IsValid():
		return isNil(b), true
	case !b.IsValid():
		return isNil(a), true
	case a.Kind() == reflect.String && b.Kind() == reflect.String:
		return a.String() == b.String(), true
	case a.Kind() == reflect.Bool && b.Kind() == reflect.Bool:
		return a.Bool() == b.Bool(), true
	case a.CanInt() && b.CanInt():
		return a.Int() == b.Int(), true
	case a.CanFloat() && b.CanFloat():
		return a.Float() == b.Float(), true
	}
	return false, false
}

// isNil says whether a value is missing, or nil of its type.
func isNil(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Map, reflect.Pointer, reflect.Slice, reflect.Func, reflect.Chan:
		return v.IsNil()
	}
	return false
}

// equalAny asks text/template, which does not export its function.
func equalAny(values []any) (bool, error) {
	var text, out strings.Builder
	text.WriteString("{{ if " + equalFunction)
	for i := range values {
		fmt.Fprintf(&text, " (index . %d)", i)
	}
	text.WriteString(" }}true{{ end }}")
	t, err := template.New("").Parse(text.String())
	if err == nil {
		err = t.Execute(&out, values)
	}
	for inner := err; inner != nil; inner = errors.Unwrap(inner) {
		err = inner // without a place, which is not in the chart
	}
	return out.Len() > 0, err
}

// merging are the functions that merge tables. What they are given may have tables in common,
// and merged into itself a table would have no end: so it is merged from copies then.
func merging(all template.FuncMap) template.FuncMap {
	merging := template.FuncMap{}
	for _, name := range []string{"merge", "mergeOverwrite"} {
		original, _ := all[name].(func(map[string]any, ...map[string]any) any)
		merging[name] = func(into map[string]any,
			from ...map[string]any,
		) any {
			return original(into, apartFrom(into, from)...)
		}
	}
	for _, name := range []string{"mustMerge", "mustMergeOverwrite"} {
		original, _ := all[name].(func(map[string]any, ...map[string]any) (any, error))
		merging[name] = func(into map[string]any, from ...map[string]any) (any, error) {
			return original(into, apartFrom(into, from)...)
		}
	}
	return merging
}

// apartFrom are tables that have none in common with each other or with the first one: copies, if
// they have. They are known to have an end.
func apartFrom(into map[string]any, from []map[string]any) []map[string]any {
	seen := map[uintptr]bool{}
	shares := sharesTables(into, seen)
	for _, table := range from {
		shares = sharesTables(table, seen) || shares
	}
	if !shares {
		return from
	}
	copies := make([]map[string]any, 0, len(from))
	for _, table := range from {
		copies = append(copies, copied(table))
	}
	return copies
}

// sharesTables notes the tables in tables, and says whether one was met before.
func sharesTables(table map[string]any, seen map[uintptr]bool) (shares bool) {
	at := reflect.ValueOf(table).Pointer()
	if table == nil || seen[at] {
		return table != nil
	}
	seen[at] = true
	for _, value := range table {
		if inner, is := asTable(value); is {
			shares = sharesTables(inner, seen) || shares
		}
	}
	return shares
}

// copied is a table with copies of the tables in it.
func copied(table map[string]any) map[string]any {
	c := maps.Clone(table)
	for key, value := range c {
		switch value := value.(type) {
		case map[string]any:
			c[key] = copied(value)
		case chartutil.Values:
			c[key] = chartutil.Values(copied(value))
		}
	}
	return c
}

// asTable is a value as a table, of either type that they have.
func asTable(value any) (map[string]any, bool) {
	switch value := value.(type) {
	case map[string]any:
		return value, true
	case chartutil.Values:
		return value, true
	}
	return nil, false
}
