package layer

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/yamldoc"
)

// ExpressionTag marks a scalar that is evaluated.
const ExpressionTag = "!cel"

// IsExpression reports whether the value is an expression.
func (v Value) IsExpression() bool { return v.Scalar != nil && IsExpression(v.Scalar) }

// IsExpression reports whether a node is an expression.
func IsExpression(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == ExpressionTag
}

// Null is a node that says nothing.
func Null() *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"} }

// Expressions are the expressions by their paths.
func (v Value) Expressions() map[string]string {
	all := map[string]string{}
	v.Walk(func(path string, leaf Value) {
		if leaf.IsExpression() {
			all[path] = leaf.Scalar.Value
		}
	})
	return all
}

// Evaluate replaces each expression by a node. The value is one of type root, and evaluate is given the type of the
// expression's field.
func (v Value) Evaluate(root reflect.Type, evaluate func(path string, leaf Value, t reflect.Type) *yaml.Node) Value {
	return v.evaluate("", root, evaluate)
}

func (v Value) evaluate(path string, t reflect.Type,
	by func(path string, leaf Value, t reflect.Type) *yaml.Node,
) Value {
	switch {
	case v.Fields != nil:
		out := Value{At: v.At, Fields: map[string]Value{}}
		for _, key := range slices.Sorted(maps.Keys(v.Fields)) {
			out.Fields[key] = v.Fields[key].evaluate(join(path, key), inside(t, key), by)
		}
		return out
	case v.Items != nil:
		out := Value{At: v.At, Items: make([]Value, 0, len(v.Items))}
		for i, inner := range v.Items {
			out.Items = append(out.Items, inner.evaluate(fmt.Sprintf("%s[%d]", path, i), inside(t, ""), by))
		}
		return out
	case v.IsExpression():
		return Value{At: v.At, Scalar: by(path, v, t)}
	}
	return v
}

// Plain is the value, one of type t, in Go's terms, for use in expressions. Strings are as they are written.
// Expressions are left out, or nil in a list.
func (v Value) Plain(t reflect.Type) any {
	switch {
	case v.Fields != nil:
		out := map[string]any{}
		for key, inner := range v.Fields {
			if !inner.IsExpression() {
				out[key] = inner.Plain(inside(t, key))
			}
		}
		return out
	case v.Items != nil:
		out := []any{}
		for _, inner := range v.Items {
			out = append(out, inner.Plain(inside(t, "")))
		}
		return out
	case v.Scalar == nil, v.IsExpression(), yamldoc.IsNull(v.Scalar):
		return nil
	case t.Kind() == reflect.String:
		return v.Scalar.Value
	}
	var out any
	_ = v.Scalar.Decode(&out) // an error is reported when the whole is decoded
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
