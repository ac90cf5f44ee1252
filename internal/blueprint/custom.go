package blueprint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/yamldoc"
)

// CustomFields are what a custom blueprint may set beside the template that it
// must name. That is a security boundary: a custom blueprint is written by
// whoever can push to a repository, and everything else is the platform's to
// decide. It holds for the fields as they are read, so that aliases, << and
// quoted or tagged keys change nothing.
func CustomFields() []string {
	return []string{"name", "splash", "image", "env", "network", "resources", "storages", "initScripts", "enableApps", "apps"}
}

// readCustom makes an entry of a custom blueprint and finds what is wrong in it
// as it is written.
func (s *Set) readCustom(custom Source) (entry, []string) {
	top, problems := yamldoc.Read(custom.Name, custom.Text)
	if len(problems) > 0 {
		return entry{}, problems
	}
	if top == nil {
		return entry{}, []string{custom.Name + ": empty; a blueprint requires at least a template"}
	}
	sh := s.language.anew().shape(custom.Name)
	if top.Kind != yaml.MappingNode {
		sh.Problemf(top, "expected the fields of a blueprint, found %s", yamldoc.Describe(top))
		return entry{}, sh.Problems
	}
	checkCustom(sh, top)
	e := entry{file: custom.Name, node: top, custom: true}
	e.identify(sh)
	s.checkParent(sh, e)
	return e, sh.Problems
}

// checkCustom checks the fields at the top of a custom blueprint.
func checkCustom(s *yamldoc.Checker, top *yaml.Node) {
	known := yamldoc.Fields(reflect.TypeFor[Blueprint]())
	s.Pairs(top, func(key, value *yaml.Node) {
		t, exists := known[key.Value]
		switch {
		case key.Value == "template", slices.Contains(CustomFields(), key.Value):
			s.Check(value, t)
		case exists:
			s.Problemf(key, "%s", notOwn(key.Value))
		default:
			s.Problemf(key, "%s; %s", unknownField(key.Value), allowedOwn())
		}
	})
}

func notOwn(field string) string {
	return fmt.Sprintf("field %q is only allowed in platform blueprints; %s", field, allowedOwn())
}

func allowedOwn() string {
	return "a custom blueprint can set: template, " + strings.Join(CustomFields(), ", ")
}

// checkParent wants a platform blueprint to inherit from.
func (s *Set) checkParent(sh *yamldoc.Checker, e entry) {
	switch n := e.lift(e.node).fields["template"].scalar; {
	case n != nil && isExpression(n):
	case e.template == "":
		sh.Problemf(e.node, "template: required: must be one of the platform blueprints %s", strings.Join(s.all(), ", "))
	case !s.Has(e.template):
		sh.Problemf(n, "template: unknown platform blueprint %q: must be one of %s", cut(e.template, 60), strings.Join(s.all(), ", "))
	}
}
