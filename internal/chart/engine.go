package chart

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/chart/chartutil"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/third_party/template"
)

// isPartial says whether a template is for others and makes nothing itself.
func isPartial(name string) bool { return strings.HasPrefix(path.Base(name), "_") }

// engine renders templates as Helm's does; a test compares the two. Helm's cannot be ended
// and has no bounds, and whatever is linked with it compiles JSON schemas at every start.
type engine struct {
	guard       *guard
	preparation preparation
	included    map[string]int
	names       map[string]any // of the functions, for the parser
}

// newEngine is one within the limits of a budget. What is trusted is known to end and to make little:
// nothing is put into its templates then, and functions are called as they are.
func newEngine(ctx context.Context, b *budget.Budget, trusted bool) *engine {
	e := &engine{guard: &guard{ctx: ctx, budget: b}, included: map[string]int{}}
	if !trusted {
		e.guard.bounds, e.preparation = budget.Table(), newPreparation()
	}
	return e
}

// render gives the text that each template makes, by its name, and everything that is wrong.
func (e *engine) render(templates map[string]source, lookup Lookup) (rendered map[string]string, problems []string) {
	root := template.New("gotpl").Option("missingkey=zero")
	all, own := functions(e.guard.ctx, lookup), e.templateFuncs(root)
	root.Funcs(e.guard.wrap(all)).Funcs(e.guard.wrap(own))
	e.names = parsed(all, own)

	// Of two definitions of one name the last one counts: that of the chart further up.
	names := slices.SortedFunc(maps.Keys(templates), func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/")), strings.Compare(b, a))
	})
	for _, name := range names {
		if err := e.parse(root, name, templates[name].text); err != nil {
			problems = append(problems, explain(err))
			if isLimit(err) {
				break
			}
		}
	}
	if _, err := e.preparation.all(root); err != nil {
		problems = append(problems, err.Error())
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return e.all(root, names, templates)
}

// parse adds a template.
func (e *engine) parse(root *template.Template, name, text string) error {
	if err := e.guard.ended(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	bytes, depth := budget.Template(text)
	if depth > maxDepth {
		return fmt.Errorf("%s: %w", name, errNesting())
	}
	if err := e.guard.budget.Hold("the templates", bytes); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	_, err := root.New(name).Parse(text)
	return err
}

// all runs every template. What one has made is gone when it ends, but for its text and what
// it has put where others find it.
func (e *engine) all(root *template.Template, names []string,
	templates map[string]source,
) (rendered map[string]string, problems []string) {
	rendered = map[string]string{}
	reachable := make([]any, 0, len(templates))
	for _, s := range templates {
		reachable = append(reachable, s.scope)
	}
	for _, name := range names {
		if isPartial(name) {
			continue
		}
		s := templates[name]
		s.scope["Template"] = chartutil.Values{"Name": name, "BasePath": s.base}
		text, err := e.execute(root, name, s.scope)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "template: ") { // what is written has no place
				err = fmt.Errorf("%s: %w", name, err)
			}
			problems = append(problems, explain(err))
			if isLimit(err) || e.guard.ctx.Err() != nil {
				break
			}
		}
		rendered[name] = withoutMissing(text)
		e.guard.budget.Settle(append(reachable, rendered)...)
	}
	return rendered, problems
}

// templateFuncs are the functions that run templates.
func (e *engine) templateFuncs(t *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			if e.included[name] > maxDepth {
				return "", budget.LimitError("templates include each other without end: " + name)
			}
			e.included[name]++
			defer func() { e.included[name]-- }()
			return e.execute(t, name, data)
		},
		"tpl": func(text string, data any) (string, error) { return e.inline(t, text, data) },
		templateFunction: func(name string, data ...any) (string, error) {
			return e.execute(t, name, append(data, nil)[0])
		},
		tickFunction:   func() string { return "" },
		outFunction:    printed,
		rangeFunction:  func(v any) any { return v },
		layoutFunction: func(v any) (any, error) { return v, e.layout(v) },
		pathFunction:   func(v any) (any, error) { return v, e.path(v) },
		methodFunction: func(name string, v any) (any, error) { return v, e.method(name, v) },
	}
}

// printed is a value as text/template prints it: it calls a method of a pointer where it can take one of the value, as
// it can of a field of .Capabilities, but not any more of what has been handed to a function.
func printed(v any) any {
	if version, ok := v.(chartutil.KubeVersion); ok {
		return version.String()
	}
	return v
}

// method charges what a method of files, values or a time makes, before it is called.
func (e *engine) method(name string, receiver any) error {
	bytes := 0.0
	switch receiver := receiver.(type) {
	case files:
		bytes = receiver.makes(name)
	case chartutil.Values:
		if name == "YAML" {
			return e.guard.yaml(name, receiver)
		}
	}
	return e.guard.budget.Make(name, bytes)
}

// layout charges the time that is written in a layout.
func (e *engine) layout(v any) error {
	text, _ := v.(string)
	return e.guard.budget.Make(methodFormat, ofLayout*float64(len(text)))
}

// path charges the error of a path that leads nowhere.
func (e *engine) path(v any) error {
	text, _ := v.(string)
	done, err := e.guard.budget.Pass("a path", ofQuoted*float64(len(text)))
	if err == nil {
		done()
	}
	return err
}

// ofQuoted are the bytes for each of a text that is quoted in an error, which others quote.
const ofQuoted = 32

// ofLayout are the bytes for each of a layout: January is one of them, and 2 is a day.
const ofLayout = 8

// The bytes of a template that runs, on a stack that may be half empty.
const (
	ofExecution = 32 << 10
	ofBlock     = 4 << 10 // for each block inside of another
)

// execute runs a template by its name.
func (e *engine) execute(t *template.Template, name string, data any) (string, error) {
	found := t.Lookup(name)
	if found == nil {
		return "", fmt.Errorf("template: no template %q associated with template %q", fault.Shorten(name, maxProblem),
			t.Name())
	}
	return e.run(found, data)
}

// run runs a template.
func (e *engine) run(t *template.Template, data any) (string, error) {
	blocks := 0
	if t.Tree != nil {
		blocks = e.preparation.done[t.Tree]
	}
	name := t.Name()
	done, err := e.guard.budget.Pass(name, ofExecution+ofBlock*float64(blocks))
	if err != nil {
		return "", err
	}
	defer done()
	e.guard.depth++
	defer func() { e.guard.depth-- }()
	if e.guard.depth > maxDepth {
		return "", budget.LimitError("templates include each other without end: " + name)
	}
	out := &output{guard: e.guard}
	err = t.Execute(out, data)
	return out.text.String(), shortened(err)
}

// output is what a template writes.
type output struct {
	guard *guard
	text  strings.Builder
}

// Write ends when there is too much.
func (o *output) Write(p []byte) (int, error) {
	if o.text.Len()+len(p) > budget.MaxText {
		return 0, budget.LimitError("the templates make too much text")
	}
	if err := o.guard.budget.Make("the output", ofWritten*float64(len(p))); err != nil {
		return 0, err
	}
	return o.text.Write(p)
}

// ofWritten are the bytes of memory for each that is written: a text grows by halves.
const ofWritten = 1.5

// withoutMissing leaves out what text/template writes for a value that is missing.
func withoutMissing(text string) string { return strings.ReplaceAll(text, "<no value>", "") }
