package catalog

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/yamldoc"
)

// readCustom makes an entry of a custom blueprint and finds its problems as
// written.
func (s *Set) readCustom(custom blueprint.Source) (entry, []string) {
	top, problems := yamldoc.Read(custom.Name, custom.Text)
	if len(problems) > 0 {
		return entry{}, problems
	}
	if top == nil {
		return entry{}, []string{custom.Name + ": empty; a blueprint requires at least a template"}
	}
	c := s.language.recounted().checker(custom.Name)
	if top.Kind != yaml.MappingNode {
		c.Problemf(top, "expected the fields of a blueprint, found %s", yamldoc.Describe(top))
		return entry{}, c.Problems
	}
	checkCustomFields(c, top)
	e := entry{file: custom.Name, node: top, custom: true}
	e.identify(c)
	s.checkTemplate(c, e)
	return e, c.Problems
}

// checkCustomFields checks the top-level fields of a custom blueprint.
func checkCustomFields(c *yamldoc.Checker, top *yaml.Node) {
	fields := yamldoc.Fields(reflect.TypeFor[blueprint.Blueprint]())
	allowed := append([]string{"template"}, blueprint.CustomFields()...)
	c.Pairs(top, func(key, value *yaml.Node) {
		t, exists := fields[key.Value]
		problem := fmt.Sprintf("unknown field %q", key.Value)
		switch {
		case slices.Contains(allowed, key.Value):
			c.Check(value, t)
			return
		case exists:
			problem = fmt.Sprintf("field %q is only allowed in platform blueprints", key.Value)
		}
		c.Problemf(key, "%s; a custom blueprint can set: %s", problem, strings.Join(allowed, ", "))
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
		c.Problemf(written.Scalar, "template: unknown platform blueprint %q: must be one of %s", shorten(e.template, 60), platform)
	}
}
