package chart

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/third_party/template"
)

// allFunctions are those of templates, with those that are put into templates.
func allFunctions(t *testing.T) template.FuncMap {
	t.Helper()
	all := functions(t.Context(), nil)
	maps.Copy(all, (&engine{}).templateFuncs(template.New("a")))
	return all
}

// A function without a bound would be called with a nil one; a bound without a function is
// one of a function with another name.
func TestEveryFunctionHasABound(t *testing.T) {
	all, bounds := allFunctions(t), budget.Table()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if bounds[name] == nil {
			t.Errorf("function %s has no bound", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		if all[name] == nil {
			t.Errorf("bound %s has no function", name)
		}
	}
}

// passing are the functions that give on what they are given, or take one layer off it, and look
// no deeper, nor print it in an error: that may be in itself. With a number, this is so of that
// argument alone. Read the source of a function before its name is added here.
func passing() []string {
	return strings.Fields(`all any append berth_layout berth_method:1 berth_path berth_range berth_template chunk
		coalesce compact concat date dateInZone date_in_zone default dig empty first get hasKey include initial keys
		kindIs kindOf last list mustAppend mustChunk mustCompact mustFirst mustInitial mustLast mustPrepend mustPush
		mustRest mustReverse mustSlice:0 omit pick pluck prepend push required rest reverse set slice:0 ternary tpl
		tuple typeIs typeIsLike typeOf unset values`)
}

// Every other argument that may hold anything is measured before its function is called: one that
// is in itself, or doubles when it is looked into, would take the stack or all time.
func TestArgumentsAreMeasured(t *testing.T) {
	all, bounds := allFunctions(t), budget.Table()
	for name, function := range all {
		takes := reflect.TypeOf(function)
		var args budget.Args
		for of := range takes.Ins() {
			args = append(args, reflect.Zero(of))
		}
		for place := range args {
			given := slices.Clone(args)
			if !holdsItself(&given[place]) {
				continue
			}
			may := slices.Contains(passing(), name) || slices.Contains(passing(), fmt.Sprintf("%s:%d", name, place))
			if refused := refuses(bounds[name], given); refused == may {
				t.Errorf("%s: argument %d: measured %t, passed on %t", name, place, refused, may)
			}
		}
	}
}

// holdsItself makes an argument one that is in itself, if its type allows for it.
func holdsItself(arg *reflect.Value) bool {
	endless := map[string]any{}
	endless["a"] = endless
	for _, value := range []any{endless, []any{endless}, []map[string]any{endless}} {
		if v := reflect.ValueOf(value); v.Type().AssignableTo(arg.Type()) {
			*arg = reflect.New(arg.Type()).Elem()
			arg.Set(v)
			return true
		}
	}
	return false
}

// refuses says whether a bound refuses arguments.
func refuses(bound budget.Bound, args budget.Args) (refused bool) {
	defer func() {
		reason, _ := recover().(error)
		_, refused = errors.AsType[budget.LimitError](reason)
	}()
	bound(args)
	return false
}
