package chart

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/third_party/template"
)

// The limits of single values; package budget has those of all together.
const (
	maxNumber = 1_000_000 // items of a list that a function makes
	maxDepth  = 1000      // templates that include each other
)

// guard ends the rendering when its context ends, and keeps it within its budget.
type guard struct {
	ctx    context.Context //nolint:containedctx // of this one rendering: text/template passes none on
	budget *budget.Budget
	bounds map[string]budget.Bound // of functions; nil leaves functions as they are
	depth  int
}

// timeError is why a rendering ends that takes longer than it may.
type timeError struct{ limit time.Duration }

func (e timeError) Error() string {
	return fmt.Sprintf("does not end: rendering a chart may take %s", e.limit)
}

// ended is why the rendering has to end now, if it has to.
func (g *guard) ended() error {
	if g.ctx.Err() == nil {
		return nil
	}
	return context.Cause(g.ctx)
}

// wrap makes every function one that ends with the context, and charges what it takes.
func (g *guard) wrap(functions template.FuncMap) template.FuncMap {
	if g.bounds == nil {
		return functions
	}
	wrapped := template.FuncMap{}
	for name, function := range functions {
		wrapped[name] = g.wrapped(name, reflect.ValueOf(function))
	}
	return wrapped
}

// wrapped is a function with its checks. What it panics with becomes the error of the call.
func (g *guard) wrapped(name string, function reflect.Value) any {
	call, bound := function.Call, g.bounds[name]
	if function.Type().IsVariadic() {
		call = function.CallSlice
	}
	return reflect.MakeFunc(function.Type(), func(args []reflect.Value) []reflect.Value {
		must(g.ended())
		need := named(name, func() budget.Need { return bound(args) })
		if need.Steps > budget.MaxSteps {
			panic(budget.LimitError(name + ": takes too long: what it is given is too large"))
		}
		done, err := g.budget.Pass(name, need.Keep+need.Pass)
		must(err)
		results := func() []reflect.Value {
			defer done() // also of a function that panics
			if need.Slow {
				return g.apart(call, args)
			}
			return call(args)
		}()
		must(checkResult(name, results[0]))
		must(g.budget.Make(name, kept(name, results[0], need.Keep)))
		return results
	}).Interface()
}

// yaml charges a value that is written as YAML.
func (g *guard) yaml(name string, v any) error {
	need := named(name, func() budget.Need { return g.bounds["toYaml"](budget.Args{reflect.ValueOf(v)}) })
	return g.budget.Make(name, need.Keep+need.Pass)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// named puts the name of a function in front of the limit that it has reached.
func named[T any](name string, do func() T) T {
	defer func() {
		reason := recover()
		if limit, ok := reason.(budget.LimitError); ok {
			reason = budget.LimitError(name + ": " + string(limit))
		}
		if reason != nil {
			panic(reason)
		}
	}()
	return do()
}

// apart calls a function that cannot be ended, and leaves it behind when the rendering ends:
// it takes some seconds at most.
func (g *guard) apart(call func([]reflect.Value) []reflect.Value, args []reflect.Value) []reflect.Value {
	type outcome struct {
		results []reflect.Value
		reason  any
	}
	ended := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			o.reason = recover()
			ended <- o
		}()
		o.results = call(args)
	}()
	select {
	case o := <-ended:
		if o.reason != nil {
			panic(o.reason)
		}
		return o.results
	case <-g.ctx.Done():
		panic(g.ended())
	}
}

// kept is what is kept of what a call was allowed to make.
func kept(name string, result reflect.Value, allowed float64) float64 {
	if name == lookupFunction {
		return budget.Held(result.Interface())
	}
	if result.Kind() == reflect.Interface {
		result = result.Elem()
	}
	if result.Kind() == reflect.String {
		return min(allowed, float64(result.Len())+ofText)
	}
	return allowed
}

// lookupFunction is the function whose result others have bounded.
const lookupFunction = "lookup"

// ofText are the bytes of a text beside its characters.
const ofText = 32

// checkResult looks at what a function has made.
func checkResult(name string, result reflect.Value) error {
	if result.Kind() == reflect.Interface {
		result = result.Elem()
	}
	switch {
	case name == outFunction, name == rangeFunction:
	case result.Kind() == reflect.String && result.Len() > budget.MaxText:
		return budget.LimitError(name + ": makes too much text")
	case result.Kind() == reflect.Slice && result.Len() > maxNumber && result.Type().Elem().Kind() != reflect.Uint8:
		return budget.LimitError(name + ": makes too many items")
	}
	return nil
}

// isLimit says whether an error is that of a limit, which ends the rendering.
func isLimit(err error) bool {
	_, limit := errors.AsType[budget.LimitError](err)
	_, late := errors.AsType[timeError](err)
	return limit || late
}

// maxProblem is the longest text of an error, in bytes: it may quote a value.
const maxProblem = 16 << 10

// shortError is an error whose text is too long. Each template that includes others would write
// all of it again.
type shortError struct {
	text  string
	cause error
}

func (e shortError) Error() string { return e.text }
func (e shortError) Unwrap() error { return e.cause }

// shortened is an error with a text of bounded length, and with what explain looks for.
func shortened(err error) error {
	if err == nil || len(err.Error()) <= maxProblem {
		return err
	}
	short := shortError{text: fault.Shorten(err.Error(), maxProblem)}
	if said, ok := errors.AsType[messageError](err); ok {
		short.cause = messageError(fault.Shorten(string(said), maxProblem))
	} else if limit, ok := errors.AsType[budget.LimitError](err); ok {
		short.cause = limit
	} else if late, ok := errors.AsType[timeError](err); ok {
		short.cause = late
	}
	return short
}

// explain is an error of a template, with its place. What a chart itself says, by required
// and fail, stands for itself, and so does a limit.
func explain(err error) string {
	text := fault.Shorten(strings.TrimPrefix(err.Error(), "template: "), maxProblem)
	var cause string
	if said, ok := errors.AsType[messageError](err); ok {
		cause = fault.Shorten(string(said), maxProblem)
	} else if limit, ok := errors.AsType[budget.LimitError](err); ok {
		cause = string(limit)
	} else if late, ok := errors.AsType[timeError](err); ok {
		cause = late.Error()
	} else {
		return text
	}
	place, rest, ok := strings.Cut(text, ": ")
	if strings.HasPrefix(place, ownName+":") {
		_, rest, _ = strings.Cut(rest, `"`)
		place, _, _ = strings.Cut(rest, `"`)
	}
	if !ok {
		return cause
	}
	return place + ": " + cause
}
