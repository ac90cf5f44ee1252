package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// maxLineage is how many blueprints may inherit from each other.
const maxLineage = 32

// Order says what a blueprint is composed of.
type Order struct {
	// Name is the platform blueprint; not used with Custom.
	Name string
	// Custom is a user's own blueprint; nil for none.
	Custom *blueprint.Source
	// As renames the result, if the name is computed.
	As string
	// Overrides are merged into it last.
	Overrides []Override
	// Registry is the default registry of images.
	Registry string
}

// Compose merges a blueprint with its ancestors, the farthest first. Draft.Resolve
// finds the problems that depend on expressions.
func (s *Set) Compose(o Order) (Draft, error) {
	chain, err := s.layers(o)
	if err != nil {
		return Draft{}, err
	}
	if chain[0].isTemplate {
		return Draft{}, fault.New(fault.InvalidArgument, "blueprint %q is a template: it can only be inherited from", o.Name).
			WithHint("choose one of: %s", strings.Join(s.Names(), ", "))
	}
	d := s.merge(chain, o)
	overrides, problems := s.override(o.Overrides)
	if len(problems) > 0 {
		return Draft{}, invalidFlags(problems)
	}
	d.merged = customStrategies().Merge(d.merged, overrides)
	return d, nil
}

// Show returns a blueprint with everything inherited, for display: also a template,
// or one that cannot be provisioned. Expressions are shown as written.
func (s *Set) Show(name, registry string) (blueprint.Blueprint, error) {
	chain, err := s.chain(name)
	if err != nil {
		return blueprint.Blueprint{}, err
	}
	d := s.merge(chain, Order{Name: name, Registry: registry})
	return d.decode(withoutUser(d.merged))
}

// layers are the blueprint and its ancestors, nearest first.
func (s *Set) layers(o Order) ([]entry, error) {
	if o.Custom == nil {
		return s.chain(o.Name)
	}
	own, problems := s.readCustom(*o.Custom)
	if len(problems) > 0 {
		return nil, invalid(problems)
	}
	parents, err := s.chain(own.template)
	if err != nil {
		return nil, err
	}
	if own.name == "" || o.As != "" {
		own.name = o.As
	}
	return append([]entry{own}, parents...), nil
}

// chain is a platform blueprint and its ancestors, nearest first.
func (s *Set) chain(name string) ([]entry, error) {
	var chain []entry
	var seen []string
	for next := name; next != ""; {
		e, ok := s.entries[next]
		if !ok && len(chain) == 0 {
			return nil, fault.New(fault.NotFound, "blueprint %q not found", name).
				WithHint("choose one of: %s", strings.Join(s.Names(), ", "))
		}
		if !ok {
			child := chain[len(chain)-1]
			return nil, child.templateProblem("template %q of blueprint %q not found", next, child.name)
		}
		if slices.Contains(seen, next) {
			return nil, e.templateProblem("inheritance cycle: %s → %s", strings.Join(seen, " → "), next)
		}
		if len(seen) == maxLineage {
			return nil, e.templateProblem("inheritance chain longer than %d blueprints", maxLineage)
		}
		seen = append(seen, next)
		chain = append(chain, e)
		next = e.template
	}
	return chain, nil
}

// templateProblem is the error of the line that names the parent.
func (e entry) templateProblem(format string, args ...any) error {
	at := e.position()
	if n := yamldoc.Field(e.node, "template"); n != nil {
		at = fmt.Sprintf("%s:%d:%d", e.file, n.Line, n.Column)
	}
	return invalid([]string{at + ": " + fmt.Sprintf(format, args...)})
}

func (s *Set) merge(chain []entry, o Order) Draft {
	d := Draft{own: chain[0], order: o, language: s.language, merged: layer.Value{Fields: map[string]layer.Value{}}}
	for _, e := range chain {
		d.lineage = append(d.lineage, e.name)
	}
	if o.As != "" && o.Custom == nil {
		d.lineage = append([]string{o.As}, d.lineage...)
	}
	for _, e := range slices.Backward(chain) {
		strategies := platformStrategies()
		if e.custom {
			strategies = customStrategies()
		}
		delete(d.merged.Fields, "name") // of a parent
		d.merged = strategies.Merge(d.merged, e.layer())
		if !e.custom {
			d.platform = d.merged
		}
	}
	return d
}

// platformStrategies merge the lists of platform blueprints.
func platformStrategies() layer.Strategies {
	return layer.Strategies{
		Exact: map[string]layer.Strategy{
			"initScripts":                {How: layer.Union, Key: "name"},
			"network.allowEgressToCIDRs": {How: layer.Union},
		},
		Suffix: map[string]layer.Strategy{
			"capabilities.add":  {How: layer.Union},
			"capabilities.drop": {How: layer.Union},
		},
		Key: map[string]layer.Strategy{
			// These are alternatives: both would require a volume that supports both.
			"accessModes": {How: layer.Replace},
		},
	}
}

// customStrategies merge the lists that a user sets: their scripts do not replace
// the platform's.
func customStrategies() layer.Strategies {
	s := platformStrategies()
	delete(s.Exact, "initScripts")
	return s
}
