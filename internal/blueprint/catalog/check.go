package catalog

import (
	"maps"
	"slices"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/yamldoc"
)

// check adds to the problems of blueprints as they are written those that they have with
// everything inherited, each once. It is the one check: of files that are validated, of
// those that are loaded, and of a user's own blueprint. extraChecks finds what else is wrong
// with one that can be provisioned; nil for nothing.
func (s *Set) check(written []yamldoc.Problem, all []entry, extraChecks func(Draft) []string) []yamldoc.Problem {
	c := checking{set: s, extraChecks: extraChecks, known: places(written), found: map[yamldoc.Problem]string{}}
	all = slices.DeleteFunc(slices.Clone(all), func(e entry) bool { return e.node == nil })
	for _, e := range all {
		delete(c.known, place(e.file, e.node.Line, e.node.Column)) // of the whole, not of a field
	}
	for _, e := range all {
		if len(written)+len(c.order) > yamldoc.MaxProblems {
			break
		}
		c.check(e)
	}
	for _, p := range c.order {
		if name := c.found[p]; name != "" {
			p.Message = "blueprint " + name + ": " + p.Message
		}
		written = append(written, p)
	}
	return written
}

// checking is a check of several blueprints.
type checking struct {
	set         *Set
	extraChecks func(Draft) []string
	// known are the places of which a problem has been reported: what follows from it is
	// none.
	known map[yamldoc.Problem]bool
	// found is the blueprint that has a problem: the one where it was written, if that one
	// has it, too.
	found map[yamldoc.Problem]string
	order []yamldoc.Problem
}

// check finds the problems of a blueprint. One that is not whole, as it is a template or
// inherits from what there is not, is checked as far as its values go.
func (c *checking) check(e entry) {
	chain, broken := c.set.lineage(e)
	if broken != nil && !c.known[place(broken.File, broken.Line, broken.Column)] {
		c.add(*broken, "", "")
	}
	whole := broken == nil && !e.isTemplate && !slices.ContainsFunc(chain, c.templateUnknown)
	for _, f := range c.set.merge(chain, Order{}).problems(whole, c.extraChecks) {
		if !c.known[place(f.File, f.Line, f.Column)] {
			c.add(f.Problem, e.name, f.layer)
		}
	}
}

// templateUnknown reports whether it is not known what a blueprint inherits from.
func (c *checking) templateUnknown(e entry) bool {
	at := yamldoc.Field(e.node, "template")
	return at != nil && c.known[place(e.file, at.Line, at.Column)] || e.custom && e.template == ""
}

func (c *checking) add(p yamldoc.Problem, name, layer string) {
	if _, again := c.found[p]; !again {
		c.order = append(c.order, p)
		c.found[p] = name
	}
	if name == layer {
		c.found[p] = name
	}
}

func places(problems []yamldoc.Problem) map[yamldoc.Problem]bool {
	all := map[yamldoc.Problem]bool{}
	for _, p := range problems {
		all[place(p.File, p.Line, p.Column)] = true
	}
	return all
}

// place is where a problem is, whichever it is.
func place(file string, line, column int) yamldoc.Problem {
	return yamldoc.Problem{File: file, Line: line, Column: column}
}

// finding is a problem of a field, and the blueprint where the field was written.
type finding struct {
	yamldoc.Problem
	layer string
}

// problems are those that a blueprint has for every user.
func (d Draft) problems(whole bool, extraChecks func(Draft) []string) (all []finding) {
	b, err := d.decode(withoutUser(d.merged))
	if err != nil {
		return []finding{{Problem: d.own.problem("", "%v", err), layer: d.own.name}}
	}
	var found []string
	if whole && extraChecks != nil {
		found = extraChecks(d)
	}
	found = append(found, d.validate(b, whole, slices.Collect(maps.Keys(d.merged.Expressions())))...)
	for _, p := range found {
		all = append(all, d.locate(p))
	}
	return all
}

// locate finds where the field of a problem was written, which may be in an ancestor.
func (d Draft) locate(problem string) finding {
	at := d.merged.Find(subject(problem))
	if at.File == "" {
		return finding{Problem: yamldoc.Problem{Message: at.Layer + " " + problem}}
	}
	return finding{yamldoc.Problem{File: at.File, Line: at.Line, Column: at.Column, Message: problem}, at.Layer}
}

// validate leaves out problems about some fields.
func (d Draft) validate(b blueprint.Blueprint, whole bool, except []string) []string {
	problems := b.ValidateValues()
	if whole {
		problems = append(b.Validate(), b.ValidateOwn(d.isOwn)...)
	}
	return slices.DeleteFunc(problems, func(p string) bool { return about(p, except) })
}
