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
	top, problems := yamldoc.Read(custom.Name, "a blueprint", custom.Text)
	if len(problems) > 0 {
		return entry{}, problems
	}
	if top == nil {
		return entry{}, []string{custom.Name + ": there is no blueprint in it; it needs a template at least"}
	}
	sh := s.language.anew().shape(custom.Name)
	if top.Kind != yaml.MappingNode {
		sh.Say(top, "found %s where the fields of a blueprint are expected", yamldoc.Found(top))
		return entry{}, sh.Problems
	}
	checkCustom(sh, top)
	e := entry{file: custom.Name, node: top, custom: true}
	e.identify(sh)
	s.checkParent(sh, e)
	return e, sh.Problems
}

// checkCustom checks the fields at the top of a custom blueprint.
func checkCustom(s *yamldoc.Shape, top *yaml.Node) {
	known := yamldoc.FieldsOf(reflect.TypeFor[Blueprint]())
	s.Pairs(top, func(key, value *yaml.Node) {
		t, exists := known[key.Value]
		switch {
		case key.Value == "template", slices.Contains(CustomFields(), key.Value):
			s.Check(value, t)
		case exists:
			s.Say(key, "%s", notOwn(key.Value))
		default:
			s.Say(key, "%s; %s", unknownField(key.Value), allowedOwn())
		}
	})
}

func notOwn(field string) string {
	return fmt.Sprintf("field %q is for platform blueprints only; %s", field, allowedOwn())
}

func allowedOwn() string {
	return "a custom blueprint can set: template, " + strings.Join(CustomFields(), ", ")
}

// checkParent wants a platform blueprint to inherit from.
func (s *Set) checkParent(sh *yamldoc.Shape, e entry) {
	switch n := e.lift(e.node).fields["template"].scalar; {
	case n != nil && isExpression(n):
	case e.template == "":
		sh.Say(e.node, "template: is missing: a custom blueprint inherits from a platform blueprint, one of %s", strings.Join(s.all(), ", "))
	case !s.Has(e.template):
		sh.Say(n, "template: there is no platform blueprint %q; one of %s is needed", cut(e.template, 60), strings.Join(s.all(), ", "))
	}
}
