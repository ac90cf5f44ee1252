package blueprint

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/blueprint/expression"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/registry"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Order says what a blueprint is put together from.
type Order struct {
	// Name is the platform blueprint's; with Custom it is not looked up.
	Name string
	// Custom is a blueprint of the user's own; nil for none.
	Custom *Source
	// As is what the result is called where that is computed.
	As string
	// Overrides are laid over it, for a single run.
	Overrides []Override
	// Registry is where an image without a registry's host comes from.
	Registry string
}

// Draft is a blueprint with everything inherited, its expressions not evaluated
// yet: that needs a user.
type Draft struct {
	own      entry
	lineage  []string
	merged   value
	order    Order
	language *language
}

// Lineage is the name and its ancestors, nearest first.
func (d Draft) Lineage() []string { return d.lineage }

// Compose lays the layers over each other, the farthest ancestor's first. What
// it cannot know before the expressions are evaluated is found by Resolve.
func (s *Set) Compose(o Order) (Draft, error) {
	chain, err := s.layers(o)
	if err != nil {
		return Draft{}, err
	}
	if chain[0].isTemplate {
		return Draft{}, fault.New(fault.InvalidArgument, "blueprint %q is a template: it can only be inherited from", o.Name).
			WithHint("choose one of: %s", strings.Join(s.Names(), ", "))
	}
	d := s.assemble(chain, o)
	over, problems := s.override(o.Overrides)
	if len(problems) > 0 {
		return Draft{}, refused(problems)
	}
	d.merged = ownStrategies().overlay("", d.merged, over)
	return d, nil
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

// Show gives a blueprint with everything inherited, to be looked at: a template
// too, and one that cannot be provisioned as it is. Expressions are shown as
// they are written.
func (s *Set) Show(name, registry string) (Blueprint, error) {
	chain, err := s.chain(name)
	if err != nil {
		return Blueprint{}, err
	}
	d := s.assemble(chain, Order{Name: name, Registry: registry})
	return d.decode(d.merged.asText())
}

func (s *Set) assemble(chain []entry, o Order) Draft {
	d := Draft{own: chain[0], order: o, language: s.language, merged: value{fields: map[string]value{}}}
	for _, e := range chain {
		d.lineage = append(d.lineage, e.name)
	}
	if o.As != "" && o.Custom == nil {
		d.lineage = append([]string{o.As}, d.lineage...)
	}
	for _, e := range slices.Backward(chain) {
		rules, layer := platformStrategies(), e.lift(e.node)
		if e.custom {
			rules = ownStrategies()
		}
		delete(d.merged.fields, "name") // of a parent
		d.merged = rules.overlay("", d.merged, layer)
	}
	return d
}

// Resolve evaluates the expressions and checks the result as a whole. What is
// known of where the blueprint comes from lacks its name, which is added.
func (d Draft) Resolve(ctx context.Context, known expression.Facts) (Blueprint, error) {
	known.Metadata.Name = d.lineage[0]
	final, problems := d.merged.evaluate(ctx, d.language, known)
	b, err := d.decode(final)
	if err != nil {
		return Blueprint{}, err
	}
	// A field without its value would only give a second problem.
	problems = append(problems, slices.DeleteFunc(check(b), func(p string) bool { return about(p, fieldsIn(problems)) })...)
	if len(problems) > 0 {
		return Blueprint{}, invalid(placed(problems, d.lineage[0], d.merged))
	}
	d.rename(&b)
	return b, nil
}

// rename gives a computed name. The name as it is written has been checked.
func (d Draft) rename(b *Blueprint) {
	if d.order.As != "" && d.order.As != b.Name {
		b.Name, b.Origins["name"] = d.order.As, "the user string"
	}
}

// examine finds what is wrong with a draft as far as that is possible without a
// user.
func (d Draft) examine() error {
	b, err := d.decode(d.merged.asText())
	if err != nil {
		return err
	}
	open := d.merged.computed()
	problems := slices.DeleteFunc(check(b), func(p string) bool { return about(p, open) })
	if len(problems) > 0 {
		return invalid(placed(problems, d.lineage[0], d.merged))
	}
	return nil
}

// decode makes a blueprint of what has been laid over each other.
func (d Draft) decode(v value) (Blueprint, error) {
	var b Blueprint
	if err := v.node().Decode(&b); err != nil {
		return Blueprint{}, invalid([]string{d.own.position() + ": blueprint " + d.own.name + ": " + err.Error()})
	}
	b.Lineage, b.Origin, b.Origins = d.lineage, d.own.position(), d.merged.origins()
	b.Platform = d.own.name
	if d.own.custom {
		b.Platform = d.own.template
	}
	b.IsTemplate = d.own.isTemplate // never inherited
	b.Template = d.own.template
	b.Image = registry.Qualify(b.Image, d.order.Registry)
	return b, nil
}

// fieldsIn are the fields that problems are about.
func fieldsIn(problems []string) (fields []string) {
	for _, p := range problems {
		field, _, _ := strings.Cut(p, ": ")
		fields = append(fields, field)
	}
	return fields
}

// about says whether a problem is about one of the fields, or about something
// that one of them is a part of.
func about(problem string, fields []string) bool {
	about := fieldsIn([]string{problem})[0]
	return slices.ContainsFunc(fields, func(field string) bool {
		rest, ok := strings.CutPrefix(field, about)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	})
}

// placed says of each problem where the field that it names was written, which
// may be in an ancestor.
func placed(problems []string, name string, merged value) []string {
	texts := make([]string, 0, len(problems))
	for _, p := range problems {
		field, _, _ := strings.Cut(p, ": ")
		at := merged.find(field)
		if at.file == "" {
			texts = append(texts, at.layer+" "+p)
			continue
		}
		texts = append(texts, fmt.Sprintf("%s:%d:%d: blueprint %s: %s", at.file, at.line, at.column, name, p))
	}
	return texts
}

// chain is the blueprint and its ancestors, nearest first.
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
			return nil, invalid([]string{child.templatePosition() + fmt.Sprintf(": template %q of blueprint %q not found", next, child.name)})
		}
		if slices.Contains(seen, next) {
			return nil, invalid([]string{e.templatePosition() + fmt.Sprintf(": inheritance cycle: %s → %s", strings.Join(seen, " → "), next)})
		}
		if len(seen) == maxLineage {
			return nil, invalid([]string{e.templatePosition() + fmt.Sprintf(": inheritance chain longer than %d blueprints", maxLineage)})
		}
		seen = append(seen, next)
		chain = append(chain, e)
		next = e.template
	}
	return chain, nil
}

// templatePosition is where the blueprint names its parent.
func (e entry) templatePosition() string {
	if n := yamldoc.Field(e.node, "template"); n != nil {
		return fmt.Sprintf("%s:%d:%d", e.file, n.Line, n.Column)
	}
	return e.position()
}
