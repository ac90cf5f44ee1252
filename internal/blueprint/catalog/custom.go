package catalog

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/yamldoc"
)

// readCustom makes an entry of a custom blueprint and finds its problems as
// written. Without a node, it cannot be read.
func (s *Set) readCustom(custom blueprint.Source) (entry, []yamldoc.Problem) {
	e := entry{file: custom.Name, text: custom.Text, commit: custom.Commit, custom: true}
	top, problems := yamldoc.Read(custom.Name, custom.Text)
	if len(problems) > 0 {
		return e, problems
	}
	if top == nil {
		return e, []yamldoc.Problem{{File: custom.Name, Message: "empty; a blueprint requires at least a template"}}
	}
	c := s.language.recounted().checker(custom.Name)
	if top.Kind != yaml.MappingNode {
		c.Problemf(top, "expected the fields of a blueprint, found %s", yamldoc.Describe(top))
		return e, c.Problems
	}
	checkCustomFields(c, top)
	e.node = top
	e.identify(c)
	s.checkTemplate(c, e)
	return e, c.Problems
}

// checkCustomFields checks the top-level fields of a custom blueprint.
func checkCustomFields(c *yamldoc.Checker, top *yaml.Node) {
	fields := yamldoc.Fields(reflect.TypeFor[blueprint.Blueprint]())
	allowed := maps.Clone(fields)
	maps.DeleteFunc(allowed, func(name string, _ reflect.Type) bool {
		return name != "template" && !slices.Contains(blueprint.CustomFields(), name)
	})
	c.Pairs(top, func(key, value *yaml.Node) {
		switch {
		case allowed[key.Value] != nil:
		case fields[key.Value] != nil:
			c.Problemf(key, "field %q is only allowed in platform blueprints; a custom blueprint can set: %s", key.Value,
				strings.Join(slices.Sorted(maps.Keys(allowed)), ", "))
			yamldoc.Drop(value)
			return
		case !c.Unknown(top, key, allowed):
			yamldoc.Drop(value)
			return
		}
		c.Check(value, allowed[key.Value])
	})
}

// checkTemplate requires a platform blueprint to inherit from.
func (s *Set) checkTemplate(c *yamldoc.Checker, e entry) {
	platform := strings.Join(s.all(), ", ")
	switch written := e.layer().Fields["template"]; {
	case written.IsExpression(): // a problem already
	case e.template == "":
		c.Problemf(e.node, "template: required: must be one of the platform blueprints %s", platform)
	case !s.Has(e.template):
		c.Problemf(written.Scalar, "template: unknown platform blueprint %q: must be one of %s", shorten(e.template, 60),
			platform)
	}
}
