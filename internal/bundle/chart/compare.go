package chart

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"text/template"
)

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
