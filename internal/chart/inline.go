package chart

import (
	"fmt"
	"maps"
	"reflect"
	"text/template/parse"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/third_party/template"
)

// parsed are the names of functions for the parser, with those of text/template.
func parsed(functions ...template.FuncMap) map[string]any {
	names := map[string]any{}
	for _, name := range []string{"and", "call", "ge", "gt", "index", "le", "len", "lt", "not", "or", "slice"} {
		names[name] = reflect.ValueOf
	}
	for _, some := range functions {
		maps.Copy(names, some)
	}
	return names
}

// inline runs a text as a template that sees all others, and may define some for itself.
func (e *engine) inline(t *template.Template, text string, data any) (string, error) {
	bytes, depth := budget.Template(text)
	if depth > maxDepth {
		return "", errNesting()
	}
	if out, done, err := e.alone(t, text, data, bytes); done {
		return out, err
	}
	done, err := e.guard.budget.Pass("tpl", bytes+ofClone+ofClonedTemplate*float64(len(e.preparation.done)))
	if err != nil {
		return "", err
	}
	defer done()
	clone, err := t.Clone()
	if err != nil {
		return "", err
	}
	clone.Option("missingkey=zero").Funcs(e.guard.wrap(e.templateFuncs(clone)))
	inner, err := clone.New(t.Name()).Parse(text)
	if err != nil {
		return "", fmt.Errorf("cannot parse template %q: %w", fault.Shorten(text, maxProblem), err)
	}
	added, err := e.preparation.all(inner)
	defer e.preparation.forget(added)
	if err != nil {
		return "", err
	}
	out, err := e.execute(inner, inner.Name(), data)
	return withoutMissing(out), err
}

// alone runs a text as inline does, if it defines no template: then it takes no copy of all others, which takes longer
// than all the rest. What cannot be parsed is not done.
func (e *engine) alone(t *template.Template, text string, data any, bytes float64) (out string, done bool, err error) {
	release, err := e.guard.budget.Pass("tpl", bytes)
	if err != nil {
		return "", true, err
	}
	defer release()
	trees, err := parse.Parse(t.Name(), text, "", "", e.names)
	tree := trees[t.Name()]
	if err != nil || tree == nil || len(trees) > 1 {
		return "", false, nil // inline says what is wrong
	}
	defer e.preparation.forget([]*parse.Tree{tree})
	if err := e.preparation.one(tree); err != nil {
		return "", true, err
	}
	inner := t.New(t.Name())
	inner.Tree = tree
	out, err = e.run(inner, data)
	return withoutMissing(out), true, err
}

// The bytes that a copy of all templates takes, whose trees stay the same.
const (
	ofClone          = 64 << 10 // its functions
	ofClonedTemplate = 400
)
