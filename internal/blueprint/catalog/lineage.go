package catalog

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/yamldoc"
)

// maxLineage is how many blueprints may inherit from each other.
const maxLineage = 32

// lineage is a blueprint and its ancestors, nearest first, as far as there are any. What
// is broken about it is reported where it is: once, however many inherit from there.
func (s *Set) lineage(own entry) (chain []entry, broken *yamldoc.Problem) {
	var seen []string
	for e := own; ; {
		chain = append(chain, e)
		if !e.custom {
			seen = append(seen, e.name)
		}
		parent, ok := s.entries[e.template]
		var problem yamldoc.Problem
		switch repeated := slices.Index(seen, e.template); {
		case e.template == "":
			return chain, nil
		case !ok:
			problem = e.problem("template", "template %q of blueprint %q not found%s", e.template, e.name,
				s.suggestion(e.template))
		case repeated >= 0:
			problem = s.cycle(seen[repeated:])
		case len(seen) == maxLineage:
			problem = e.problem("template", "inheritance chain longer than %d blueprints", maxLineage)
		default:
			e = parent
			continue
		}
		return chain, &problem
	}
}

// cycle is the problem of blueprints that inherit from each other, the same one
// whichever of them it is found from.
func (s *Set) cycle(names []string) yamldoc.Problem {
	first := slices.Index(names, slices.Min(names))
	names = slices.Concat(names[first:], names[:first+1])
	return s.entries[names[0]].problem("template", "inheritance cycle: %s", strings.Join(names, " → "))
}

// suggestion is a question for the name that is meant, if there is one like it.
func (s *Set) suggestion(name string) string {
	if nearest := yamldoc.Nearest(name, s.all()); nearest != "" {
		return ": did you mean " + nearest + "?"
	}
	return ""
}
