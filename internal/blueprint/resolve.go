package blueprint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// DefaultRegistry is where an image without a registry's host comes from.
const DefaultRegistry = "docker.io"

// Resolve gives the blueprint of that name with everything inherited, checked
// as a whole.
func (s *Set) Resolve(name, registry string) (Blueprint, error) {
	chain, err := s.chain(name)
	if err != nil {
		return Blueprint{}, err
	}
	if chain[0].isTemplate {
		return Blueprint{}, fault.New(fault.InvalidArgument, "blueprint %q is a template: it is there to inherit from", name).
			WithHint("choose one of: %s", strings.Join(s.Names(), ", "))
	}
	b, merged, err := assemble(chain, registry)
	if err != nil {
		return Blueprint{}, err
	}
	if problems := check(b); len(problems) > 0 {
		return Blueprint{}, invalid(placed(problems, b.Name, merged))
	}
	return b, nil
}

// Show gives a blueprint with everything inherited, to be looked at: a template
// too, and one that cannot be provisioned as it is.
func (s *Set) Show(name, registry string) (Blueprint, error) {
	chain, err := s.chain(name)
	if err != nil {
		return Blueprint{}, err
	}
	b, _, err := assemble(chain, registry)
	return b, err
}

// assemble lays the layers over each other, the farthest ancestor's first.
func assemble(chain []entry, registry string) (Blueprint, value, error) {
	own := chain[0]
	var lineage []string
	for _, e := range chain {
		lineage = append(lineage, e.name)
	}
	merged := value{fields: map[string]value{}}
	for _, e := range slices.Backward(chain) {
		merged = overlay(merged, e.lift(e.node))
	}
	var b Blueprint
	if err := merged.node().Decode(&b); err != nil {
		return Blueprint{}, value{}, invalid([]string{own.position() + ": blueprint " + own.name + ": " + err.Error()})
	}
	b.Lineage, b.Origin, b.Origins = lineage, own.position(), origins(merged.places())
	b.IsTemplate = own.isTemplate // never inherited
	b.Template = own.template
	b.Image = withRegistry(b.Image, registry)
	return b, merged, nil
}

// placed says of each problem where the field that it names was written, which
// may be in an ancestor.
func placed(problems []string, name string, merged value) []string {
	texts := make([]string, 0, len(problems))
	for _, p := range problems {
		field, _, _ := strings.Cut(p, ": ")
		at := merged.find(field)
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
			return nil, fault.New(fault.NotFound, "there is no blueprint %q", name).
				WithHint("choose one of: %s", strings.Join(s.Names(), ", "))
		}
		if !ok {
			child := chain[len(chain)-1]
			return nil, invalid([]string{child.templatePosition() + fmt.Sprintf(": template %q of blueprint %q does not exist", next, child.name)})
		}
		if slices.Contains(seen, next) {
			return nil, invalid([]string{e.templatePosition() + fmt.Sprintf(": blueprints inherit in a circle: %s → %s", strings.Join(seen, " → "), next)})
		}
		if len(seen) == maxLineage {
			return nil, invalid([]string{e.templatePosition() + fmt.Sprintf(": more than %d blueprints inherit from each other", maxLineage)})
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

// withRegistry writes out the registry's host. A first part with a dot or a
// colon in it, or localhost, is a host; that is how image names have always
// been read.
func withRegistry(image, registry string) string {
	if image == "" {
		return ""
	}
	if registry == "" {
		registry = DefaultRegistry
	}
	first, rest, ok := strings.Cut(image, "/")
	if ok && rest != "" && (strings.ContainsAny(first, ".:") || first == "localhost") {
		return image
	}
	if registry == DefaultRegistry && !ok {
		return registry + "/library/" + image
	}
	return registry + "/" + image
}
