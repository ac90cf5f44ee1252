package blueprint

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/yamldoc"
)

// evaluate puts values in the places of expressions. They see the blueprint as
// it is without them, so that their order does not matter.
func (v value) evaluate(ctx context.Context, l *language, known expression.Facts) (value, []string) {
	var problems []string
	var blueprint map[string]any
	left := maxEvaluated
	out := v.replace("", reflect.TypeFor[Blueprint](), func(path string, leaf value, t reflect.Type) *yaml.Node {
		if blueprint == nil {
			blueprint, _ = v.plain(reflect.TypeFor[Blueprint]()).(map[string]any)
		}
		left--
		switch {
		case left < -1:
			return nothing()
		case left == -1:
			problems = append(problems, fmt.Sprintf("%s: a blueprint can have at most %d expressions", path, maxEvaluated))
			return nothing()
		}
		given, err := l.evaluate(ctx, leaf.scalar.Value, resultOf(t), known, blueprint)
		if err != nil {
			problems = append(problems, path+": "+err.Error())
			return nothing()
		}
		return given
	})
	return out, problems
}

// maxEvaluated are the expressions of one blueprint.
const maxEvaluated = 100

func (l *language) evaluate(ctx context.Context, text string, wanted expression.Result, known expression.Facts, blueprint map[string]any) (*yaml.Node, error) {
	cel, err := l.get()
	if err != nil {
		return nil, err
	}
	given, err := cel.Evaluate(ctx, text, wanted, known, blueprint)
	if err != nil {
		return nil, err
	}
	tag := "!!str"
	switch given.(type) {
	case nil:
		return nothing(), nil
	case bool:
		tag = "!!bool"
	case int64, uint64:
		tag = "!!int"
	case float64:
		tag = "!!float"
	}
	if wanted == expression.Text {
		tag = "!!str"
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: fmt.Sprint(given)}, nil
}

func nothing() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

// computed are the paths at which expressions stand.
func (v value) computed() (paths []string) {
	v.walk("", func(path string, leaf value) {
		if isExpression(leaf.scalar) {
			paths = append(paths, path)
		}
	})
	return paths
}

// asText shows expressions where a text can be, and nothing in other places:
// the blueprint as it is without a user.
func (v value) asText() value {
	return v.replace("", reflect.TypeFor[Blueprint](), func(_ string, leaf value, t reflect.Type) *yaml.Node {
		if result := resultOf(t); result != expression.Text && result != expression.Scalar {
			return nothing()
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: expressionTag + " " + leaf.scalar.Value}
	})
}

// replace puts something in the place of each expression. The type is that of
// the field.
func (v value) replace(path string, t reflect.Type, by func(path string, leaf value, t reflect.Type) *yaml.Node) value {
	switch {
	case v.fields != nil:
		out := value{at: v.at, fields: map[string]value{}}
		for _, key := range slices.Sorted(maps.Keys(v.fields)) {
			inner := v.fields[key]
			out.fields[key] = inner.replace(strings.TrimPrefix(path+"."+key, "."), inside(t, key), by)
		}
		return out
	case v.items != nil:
		out := value{at: v.at, items: make([]value, 0, len(v.items))}
		for i, inner := range v.items {
			out.items = append(out.items, inner.replace(fmt.Sprintf("%s[%d]", path, i), inside(t, ""), by))
		}
		return out
	case v.scalar != nil && isExpression(v.scalar):
		return value{at: v.at, scalar: by(path, v, t)}
	}
	return v
}

// plain is the value in Go's terms. Texts are as they are written; an expression
// is not there, or nothing in a list.
func (v value) plain(t reflect.Type) any {
	switch {
	case v.fields != nil:
		out := map[string]any{}
		for key, inner := range v.fields {
			if inner.scalar == nil || !isExpression(inner.scalar) {
				out[key] = inner.plain(inside(t, key))
			}
		}
		return out
	case v.items != nil:
		out := []any{}
		for _, inner := range v.items {
			out = append(out, inner.plain(inside(t, "")))
		}
		return out
	case v.scalar == nil || isExpression(v.scalar) || yamldoc.IsNull(v.scalar):
		return nil
	case t.Kind() == reflect.String:
		return v.scalar.Value
	}
	var out any
	_ = v.scalar.Decode(&out) // what is wrong with it is said elsewhere
	return out
}

// inside is the type of a field, or of the items of a list.
func inside(t reflect.Type, key string) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		if field, ok := yamldoc.Fields(t)[key]; ok {
			return field
		}
	case reflect.Map, reflect.Slice:
		return t.Elem()
	}
	return reflect.TypeFor[any]()
}
