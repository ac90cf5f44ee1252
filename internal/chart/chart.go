// Package chart makes objects of a chart, as Helm does: its values and their schema, its subcharts,
// templates, hooks and custom resource definitions. It does what Helm's engine does, and for a chart
// that others wrote within limits, and ends when it is told to.
package chart

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/chart/chartutil"
	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// maxWarnings is how many are kept.
const maxWarnings = 100

// Options say what a chart is rendered with.
type Options struct {
	Release Release
	// Values are a text of YAML.
	Values []byte
	// Lookup asks the cluster; nil finds nothing, as without a cluster.
	Lookup       Lookup
	Capabilities Capabilities
	// Time is how long it may take; DefaultTime if it is 0.
	Time time.Duration
	// Memory is what it may take of it, in bytes; budget.Limit if it is 0.
	Memory int64
}

// DefaultTime is far longer than any chart takes that ends.
const DefaultTime = 20 * time.Second

// Release is what a template sees as .Release.
type Release struct {
	Name, Namespace string
	// Revision is 1 if it is 0.
	Revision int
	Upgrade  bool
}

// Rendered is a chart with its values filled in.
type Rendered struct {
	// Chart is as Helm records it; Values are those that were given.
	Chart  *helmchart.Chart
	Values map[string]any
	// Objects are first those of crds/, which Helm's record does not have, and then those of
	// the manifest, in Helm's order.
	Objects []*unstructured.Unstructured
	// Manifest is as Helm records it: without crds/ and hooks.
	Manifest string
	Hooks    []Hook
	Notes    string
	Warnings []string
	// Charts are those in the chart, in directories and archives of charts/, whether the values want them or not: each
	// as PATH VERSION, by the names of the charts that it is in.
	Charts []string
	// Unknown are the objects whose fields are compared with nothing.
	Unknown []manifest.Unknown

	budget  *budget.Budget
	trusted bool // its templates and objects are berth's own
}

// Load reads the chart at the root of a file system and renders it. The error has everything
// that is wrong, step by step: a chart is not rendered with values that do not fit.
func Load(ctx context.Context, fsys fs.FS, o Options) (*Rendered, error) {
	return o.bounded(ctx, func(ctx context.Context, memory *budget.Budget) (*Rendered, error) {
		r, seen, err := o.read(ctx, fsys, memory)
		if err != nil {
			return nil, err
		}
		return r, o.fill(ctx, r, seen)
	})
}

// Check reads the chart at the root of a file system as Load does, and renders nothing: only
// with its values can be said what its templates make.
func Check(ctx context.Context, fsys fs.FS, o Options) error {
	_, err := o.bounded(ctx, func(ctx context.Context, memory *budget.Budget) (*Rendered, error) {
		r, _, err := o.read(ctx, fsys, memory)
		return r, err
	})
	return err
}

// Fill fills values into a chart of berth's own. What its templates take is not counted, which takes
// as long as all the rest; its objects are as they are written, without hooks.
func Fill(c *helmchart.Chart, given map[string]any) (*Rendered, error) {
	r := &Rendered{Chart: c, Values: given, budget: budget.Unlimited(), trusted: true}
	ctx := context.Background() // nothing is asked
	values, problems := r.fillIn(ctx, given)
	if len(problems) == 0 {
		problems = r.render(ctx, Options{}, nil, values)
	}
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "; "))
	}
	return r, nil
}

// bounded calls f with the time and the memory that a chart may take.
func (o Options) bounded(ctx context.Context, f func(context.Context, *budget.Budget) (*Rendered, error)) (*Rendered,
	error,
) {
	limit := cmp.Or(o.Time, DefaultTime)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, timeError{limit})
	defer cancel()
	memory := budget.New(cmp.Or(o.Memory, budget.Limit))
	r, err := f(ctx, memory)
	if err == nil {
		return r, nil
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && memory.Exceeded() && f.Reason == "" {
		err = f.WithReason(ReasonMemory)
	}
	return nil, err
}

// read reads a chart and checks what does not depend on values.
func (o Options) read(ctx context.Context, fsys fs.FS, memory *budget.Budget) (*Rendered, *chartutil.Capabilities,
	error,
) {
	c, err := load(ctx, fsys, memory)
	if ctx.Err() != nil {
		return nil, nil, stopped(ctx, "the chart", "")
	}
	if err != nil {
		return nil, nil, fault.New(fault.InvalidArgument, "invalid chart: %w", err)
	}
	seen, err := o.Capabilities.forTemplates()
	if err != nil {
		return nil, nil, fault.New(fault.InvalidArgument, "invalid version of Kubernetes %q: %w",
			o.Capabilities.Version, err)
	}
	r := &Rendered{Chart: c, Charts: within(c, ""), budget: memory}
	if problems := r.check(seen); len(problems) > 0 {
		return nil, nil, invalid("invalid chart "+c.Name(), problems)
	}
	return r, seen, nil
}

// fill fills the values into a chart that was read.
func (o Options) fill(ctx context.Context, r *Rendered, seen *chartutil.Capabilities) error {
	given, problems := parseValues(o.Values, r.budget)
	if len(problems) > 0 {
		return invalid("invalid values", problems)
	}
	r.Values = copiedTable(given)
	values, problems := r.fillIn(ctx, given)
	if ctx.Err() != nil {
		return stopped(ctx, "chart "+r.Chart.Name(), "")
	}
	if len(problems) > 0 {
		return invalid("the values do not fit chart "+r.Chart.Name(), problems)
	}
	seen.APIVersions = append(seen.APIVersions, defined(r.Chart)...)
	problems = r.render(ctx, o, seen, values)
	switch {
	case ctx.Err() != nil:
		return stopped(ctx, "chart "+r.Chart.Name(), strings.Join(problems[max(0, len(problems)-1):], ""))
	case len(problems) > 0:
		return invalid("chart "+r.Chart.Name()+" cannot be rendered", problems)
	}
	return nil
}

// render fills the values into the templates, and takes what they make.
func (r *Rendered) render(ctx context.Context, o Options, seen *chartutil.Capabilities,
	values map[string]any,
) (problems []string) {
	templates := map[string]source{}
	above := map[string]any{
		"Values": chartutil.Values(values), "Capabilities": seen,
		"Release": o.Release.forTemplates(),
	}
	if _, err := sources(r.Chart, above, templates, r.budget); err != nil {
		return []string{err.Error()}
	}
	texts, problems := newEngine(ctx, r.budget, r.trusted).render(templates, o.Lookup)
	if len(problems) > 0 {
		return problems
	}
	if err := r.charge(texts); err != nil {
		return []string{err.Error()}
	}
	return r.take(ctx, texts, o)
}

// The bytes of objects for each byte of their text, and for each value.
const (
	ofObjects = 4
	ofValue   = 100
)

// charge charges the objects in what the templates have made.
func (r *Rendered) charge(texts map[string]string) error {
	bytes := 0.0
	for _, text := range texts {
		bytes += ofObjects*float64(len(text)) + ofValue*float64(yamldoc.Marks([]byte(text)))
	}
	return r.budget.Hold("the objects", bytes)
}

// stopped is why a chart is not rendered to its end.
func stopped(ctx context.Context, what, problem string) error {
	late, ok := errors.AsType[timeError](context.Cause(ctx))
	if !ok {
		return ctx.Err()
	}
	if problem == "" {
		problem = late.Error()
	}
	return fault.New(fault.Failed, "%s cannot be rendered", what).WithReason(ReasonTime).WithDetail(problem).
		WithHint("mend the template, or give it more time with --render-timeout")
}

// The fault reasons of a chart whose templates take too much.
const (
	ReasonTime   = "RENDER_TIMEOUT"       // they do not end in time
	ReasonMemory = "RENDER_OUT_OF_MEMORY" // they make too much
)

// check says what keeps the chart from being installed, whatever its values are.
func (r *Rendered) check(seen *chartutil.Capabilities) (problems []string) {
	c := r.Chart
	if !slices.Contains([]string{"", "application"}, c.Metadata.Type) {
		problems = append(problems, fmt.Sprintf("a chart of type %s cannot be installed, only used by others",
			c.Metadata.Type))
	}
	if names := missing(c); len(names) > 0 {
		problems = append(problems, "charts/ lacks what Chart.yaml depends on: "+strings.Join(names, ", ")+
			": run helm dependency build")
	}
	if wanted := c.Metadata.KubeVersion; wanted != "" && !InRange(wanted, seen.KubeVersion.Version) {
		problems = append(problems, fmt.Sprintf("kubeVersion: requires Kubernetes %s, this is %s",
			wanted, seen.KubeVersion.Version))
	}
	if c.Metadata.Deprecated {
		r.warn("chart %s is deprecated", c.Name())
	}
	var below func(*helmchart.Chart)
	below = func(c *helmchart.Chart) {
		for _, sub := range c.Dependencies() {
			if names := missing(sub); len(names) > 0 {
				r.warn("subchart %s: charts/ lacks what its Chart.yaml depends on: %s",
					sub.Name(), strings.Join(names, ", "))
			}
			below(sub)
		}
	}
	below(c)
	return problems
}

// warn adds a warning, each once.
func (r *Rendered) warn(format string, args ...any) {
	if text := fault.Line(fmt.Sprintf(format, args...)); !slices.Contains(r.Warnings, text) &&
		len(r.Warnings) < maxWarnings {
		r.Warnings = append(r.Warnings, text)
	}
}

// invalid is the error of a chart or values with problems.
func invalid(message string, problems []string) error {
	err := fault.New(fault.InvalidArgument, "%s", message)
	if len(problems) == 1 {
		return err.WithDetail(problems[0])
	}
	for _, problem := range problems {
		err.Problems = append(err.Problems, fault.Line(problem))
	}
	return err
}
