package chart

import (
	"context"
	"reflect"
	"strings"
	"text/template"
)

// The limits of rendering, so that a template ends whatever it does, and in bounded memory.
const (
	maxText   = 16 << 20  // bytes that a function or a template gives
	maxTexts  = 128 << 20 // bytes that all of them give together
	maxNumber = 1_000_000 // items of a list that a function makes
	maxWeight = 64 << 20  // bytes of the values that are printed at once
	maxDepth  = 1000      // templates that include each other; values in values
)

// nodeWeight is the bytes that a value counts beside its text.
const nodeWeight = 128

// guard ends the rendering when its context ends, and keeps it within its limits.
type guard struct {
	ctx   context.Context //nolint:containedctx // of this one rendering: text/template passes none on
	texts int
	depth int
}

// limitError is the error of a limit that is reached.
type limitError string

func (e limitError) Error() string { return string(e) }

// wrap makes every function one that ends with the context, and neither takes nor gives more
// than the limits allow.
func (g *guard) wrap(functions template.FuncMap) template.FuncMap {
	wrapped := template.FuncMap{}
	for name, function := range functions {
		wrapped[name] = g.wrapped(name, reflect.ValueOf(function))
	}
	return wrapped
}

// wrapped is a function with its checks. What it panics with becomes the error of the call.
func (g *guard) wrapped(name string, function reflect.Value) any {
	call := function.Call
	if function.Type().IsVariadic() {
		call = function.CallSlice
	}
	return reflect.MakeFunc(function.Type(), func(args []reflect.Value) []reflect.Value {
		must(g.ctx.Err())
		must(checkAmount(name, args))
		if !shallow(name) {
			for _, arg := range args {
				must(weigh(arg))
			}
		}
		results := call(args)
		must(g.checkResult(name, results[0]))
		return results
	}).Interface()
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// checkAmount looks at how much a function is about to make.
func checkAmount(name string, args []reflect.Value) error {
	number := func(i int) float64 {
		n := float64(args[i].Int())
		return max(n, -n)
	}
	count := func(i int, sub string) float64 { return float64(strings.Count(args[i].String(), sub)) + 1 }
	size := func(i int) float64 { return float64(args[i].Len()) }
	amount, most := 0.0, float64(maxText)
	switch name {
	case "repeat":
		amount = number(0) * size(1)
	case "indent", "nindent":
		amount = number(0) * count(1, "\n")
	case "replace":
		amount = count(2, args[0].String()) * size(1)
	case "regexReplaceAll", "regexReplaceAllLiteral", "mustRegexReplaceAll", "mustRegexReplaceAllLiteral":
		amount = (size(1) + 1) * size(2)
	case "join":
		if v := reflect.ValueOf(args[1].Interface()); v.Kind() == reflect.Slice {
			amount = size(0) * float64(v.Len())
		}
	case "randAlphaNum", "randAlpha", "randNumeric", "randAscii", "randBytes":
		amount = number(0)
	case "until":
		amount, most = number(0), maxNumber
	case "untilStep":
		amount, most = max(number(0), number(1)), maxNumber
	case "seq":
		most = maxNumber
		for i := range args[0].Len() {
			n := float64(args[0].Index(i).Int())
			amount = max(amount, n, -n)
		}
	}
	if amount > most {
		return limitError(name + ": makes too much")
	}
	return nil
}

// checkResult looks at what a function has made.
func (g *guard) checkResult(name string, result reflect.Value) error {
	if result.Kind() == reflect.Interface {
		result = result.Elem()
	}
	switch {
	case result.Kind() == reflect.String && name != outFunction:
		return g.made(result.Len())
	case result.Kind() == reflect.Slice && result.Len() > maxNumber && result.Type().Elem().Kind() != reflect.Uint8:
		return limitError(name + ": makes too many items")
	}
	return nil
}

// made counts text.
func (g *guard) made(size int) error {
	if g.texts += size; size > maxText || g.texts > maxTexts {
		return limitError("the templates make too much text")
	}
	return nil
}

// shallow says whether a function only looks at the top of its arguments, which is most of
// what charts call with large ones.
func shallow(name string) bool {
	switch name {
	case "include", "tpl", "lookup", "required", "default", "empty", "coalesce", "ternary", "kindOf", "kindIs", "typeOf", "typeIs",
		"get", "set", "unset", "hasKey", "pluck", "dig", "keys", "values", "pick", "omit", "dict", "list", "tuple",
		"first", "rest", "last", "initial", "append", "prepend", "push", "concat", "reverse", "compact", tickFunction, templateFunction:
		return true
	}
	return false
}

// weigh refuses a value that is very large with all that is in it, once for each time that it
// is in there, or that is in itself.
func weigh(v reflect.Value) error {
	w := scales{maxWeight}
	if !w.hold(v, 0) {
		return limitError("a value is too large")
	}
	return nil
}

// scales have the bytes that are left.
type scales struct{ left int }

// hold says whether there is room for a value.
func (w *scales) hold(v reflect.Value, depth int) bool {
	w.left -= nodeWeight
	if w.left < 0 || depth > maxDepth {
		return false
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		return v.IsNil() || w.hold(v.Elem(), depth+1)
	case reflect.String:
		w.left -= v.Len()
	case reflect.Slice, reflect.Array:
		return w.items(v, depth)
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			if !w.hold(entries.Key(), depth+1) || !w.hold(entries.Value(), depth+1) {
				return false
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !w.hold(field, depth+1) {
				return false
			}
		}
	}
	return w.left >= 0
}

func (w *scales) items(v reflect.Value, depth int) bool {
	if v.Type().Elem().Kind() == reflect.Uint8 {
		w.left -= v.Len()
		return w.left >= 0
	}
	for i := range v.Len() {
		if !w.hold(v.Index(i), depth+1) {
			return false
		}
	}
	return true
}
