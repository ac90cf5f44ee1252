package chart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	helmchart "helm.sh/helm/v3/pkg/chart"
)

// source is a template with what it sees.
type source struct {
	text  string
	base  string // the directory of templates
	scope map[string]any
}

// sources are the templates of a chart and of its subcharts, each of which sees its own
// values. Above is what its parent sees.
func sources(c *helmchart.Chart, above map[string]any, into map[string]source) map[string]any {
	subcharts := map[string]any{}
	scope := map[string]any{
		"Chart": struct {
			helmchart.Metadata
			IsRoot bool
		}{*c.Metadata, c.IsRoot()},
		"Files":        newFiles(c.Files),
		"Release":      above["Release"],
		"Capabilities": above["Capabilities"],
		"Values":       Values{},
		"Subcharts":    subcharts,
	}
	if c.IsRoot() {
		scope["Values"] = above["Values"]
	} else if own, err := Values(above).Table("Values." + c.Name()); err == nil {
		scope["Values"] = own
	}
	for _, sub := range c.Dependencies() {
		subcharts[sub.Name()] = sources(sub, scope, into)
	}
	for _, file := range c.Templates {
		if strings.EqualFold(c.Metadata.Type, "library") && !isPartial(file.Name) {
			continue
		}
		name := path.Join(c.ChartFullPath(), file.Name)
		into[name] = source{string(file.Data), path.Join(c.ChartFullPath(), "templates"), scope}
	}
	return scope
}

// isPartial says whether a template is for others and makes nothing itself.
func isPartial(name string) bool { return strings.HasPrefix(path.Base(name), "_") }

// engine renders templates as Helm's does; a test compares the two. Helm's cannot be ended
// and has no bounds, and whatever is linked with it compiles JSON schemas at every start.
type engine struct {
	guard       *guard
	preparation preparation
	included    map[string]int
}

// render gives the text that each template makes, by its name, and everything that is wrong.
func render(ctx context.Context, templates map[string]source, lookup Lookup) (rendered map[string]string, problems []string) {
	e := &engine{guard: &guard{ctx: ctx}, preparation: preparation{map[*parse.Tree]bool{}}, included: map[string]int{}}
	root := template.New("gotpl").Option("missingkey=zero")
	root.Funcs(e.guard.wrap(functions(ctx, lookup))).Funcs(e.guard.wrap(e.own(root)))

	// Of two definitions of one name the last one counts: that of the chart further up.
	names := slices.SortedFunc(maps.Keys(templates), func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(b, "/"), strings.Count(a, "/")), strings.Compare(b, a))
	})
	for _, name := range names {
		if _, err := root.New(name).Parse(templates[name].text); err != nil {
			problems = append(problems, explain(err))
		}
	}
	if err := e.preparation.all(root); err != nil {
		problems = append(problems, err.Error())
	}
	if len(problems) > 0 {
		return nil, problems
	}
	rendered = map[string]string{}
	for _, name := range names {
		if isPartial(name) {
			continue
		}
		s := templates[name]
		s.scope["Template"] = Values{"Name": name, "BasePath": s.base}
		text, err := e.execute(root, name, s.scope)
		if err != nil {
			problems = append(problems, explain(err))
			if limit := limitError(""); errors.As(err, &limit) || ctx.Err() != nil {
				break
			}
		}
		rendered[name] = withoutMissing(text)
	}
	return rendered, problems
}

// own are the functions that run templates.
func (e *engine) own(t *template.Template) template.FuncMap {
	return template.FuncMap{
		"include": func(name string, data any) (string, error) {
			if e.included[name] > maxDepth {
				return "", limitError("templates include each other without end: " + name)
			}
			e.included[name]++
			defer func() { e.included[name]-- }()
			return e.execute(t, name, data)
		},
		"tpl": func(text string, data any) (string, error) { return e.inline(t, text, data) },
		templateFunction: func(name string, data ...any) (string, error) {
			return e.execute(t, name, append(data, nil)[0])
		},
		tickFunction: func() string { return "" },
		outFunction:  func(v any) any { return v },
	}
}

// inline runs a text as a template that sees all others, and may define some for itself.
func (e *engine) inline(t *template.Template, text string, data any) (string, error) {
	clone, err := t.Clone()
	if err != nil {
		return "", err
	}
	clone.Option("missingkey=zero").Funcs(e.guard.wrap(e.own(clone)))
	inner, err := clone.New(t.Name()).Parse(text)
	if err != nil {
		return "", fmt.Errorf("cannot parse template %q: %w", text, err)
	}
	if err := e.preparation.all(inner); err != nil {
		return "", err
	}
	out, err := e.execute(inner, inner.Name(), data)
	return withoutMissing(out), err
}

// execute runs a template by its name.
func (e *engine) execute(t *template.Template, name string, data any) (string, error) {
	e.guard.depth++
	defer func() { e.guard.depth-- }()
	if e.guard.depth > maxDepth {
		return "", limitError("templates include each other without end: " + name)
	}
	out := &output{guard: e.guard}
	err := t.ExecuteTemplate(out, name, data)
	return out.text.String(), err
}

// output is what a template writes.
type output struct {
	guard *guard
	text  strings.Builder
}

// Write ends with the context, and when there is too much.
func (o *output) Write(p []byte) (int, error) {
	if err := o.guard.ctx.Err(); err != nil {
		return 0, err
	}
	if o.text.Len()+len(p) > maxText {
		return 0, limitError("the templates make too much text")
	}
	return o.text.Write(p)
}

// withoutMissing leaves out what text/template writes for a value that is missing.
func withoutMissing(text string) string { return strings.ReplaceAll(text, "<no value>", "") }

// explain is an error of a template, with its place. What a chart itself says, by required
// and fail, stands for itself, and so does a limit.
func explain(err error) string {
	text := strings.TrimPrefix(err.Error(), "template: ")
	said, limit := messageError(""), limitError("")
	var cause string
	switch {
	case errors.As(err, &said):
		cause = string(said)
	case errors.As(err, &limit):
		cause = string(limit)
	default:
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
