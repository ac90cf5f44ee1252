package chart

import (
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	helmchart "helm.sh/helm/v3/pkg/chart"

	"github.com/berthdev/berth/internal/chart/chartutil"
	"github.com/berthdev/berth/third_party/template"
)

// A template can call each method that it can with Helm: those of what a chart sees, of what functions give, and of
// what these methods give in turn. One that the list of third_party/template lacks would be no method at all.
func TestMethodsOfTemplates(t *testing.T) {
	var todo []reflect.Type
	for _, seen := range []any{files{}, &chartutil.Capabilities{}, chartutil.Values{}, struct{ helmchart.Metadata }{}} {
		todo = append(todo, reflect.TypeOf(seen))
	}
	for _, function := range Functions() {
		todo = append(todo, reflect.TypeOf(function))
	}
	seen, missing := map[reflect.Type]bool{}, map[string]bool{}
	for ; len(todo) > 0; todo = todo[1:] {
		of := todo[0]
		if seen[of] || of.Kind() == reflect.Interface {
			continue
		}
		seen[of] = true
		todo = append(todo, below(of)...)
		for method := range of.Methods() {
			todo = append(todo, method.Type)
			if callable(method.Type) && !found(t, of, method.Name) {
				missing[method.Name] = true
				t.Errorf("%s of %s is no method for a template", method.Name, of)
			}
		}
	}
	if len(missing) > 0 {
		t.Logf("missing: %s", strings.Join(slices.Sorted(maps.Keys(missing)), " "))
	}
	if len(seen) < 50 {
		t.Errorf("only %d types were found", len(seen))
	}
}

// below are the types of what a value has, or gives.
func below(of reflect.Type) (types []reflect.Type) {
	switch of.Kind() {
	case reflect.Func:
		for result := range of.Outs() {
			types = append(types, result)
		}
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		types = append(types, of.Elem())
	case reflect.Struct:
		for field := range of.Fields() {
			if field.IsExported() {
				types = append(types, field.Type, reflect.PointerTo(field.Type))
			}
		}
	}
	return types
}

// callable says whether a template may call such a function: it has a result, or one and an error.
func callable(of reflect.Type) bool {
	return of.NumOut() == 1 || of.NumOut() == 2 && of.Out(1) == reflect.TypeFor[error]()
}

// found says whether a template finds a method: it is called with more arguments than any has.
func found(t *testing.T, of reflect.Type, name string) bool {
	value := reflect.Zero(of)
	if of.Kind() == reflect.Pointer {
		value = reflect.New(of.Elem())
	}
	parsed, err := template.New("").Parse("{{ .V." + name + " 1 2 3 4 5 6 7 8 9 }}")
	if err != nil {
		t.Fatal(err)
	}
	err = parsed.Execute(io.Discard, map[string]any{"V": value.Interface()})
	return err != nil && strings.Contains(err.Error(), "wrong number of args for "+name)
}
