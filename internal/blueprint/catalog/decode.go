package catalog

import (
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/userstring"
	"github.com/berthdev/berth/internal/yamldoc"
)

// parse returns the blueprints of a file as nodes.
func parse(source blueprint.Source) (blueprints []*yaml.Node, problems []yamldoc.Problem) {
	top, problems := yamldoc.Read(source.Name, source.Text)
	if top == nil {
		return nil, problems
	}
	c := &yamldoc.Checker{File: source.Name}
	fields := yamldoc.Fields(reflect.TypeFor[blueprint.File]())
	if top.Kind != yaml.MappingNode {
		c.Problemf(top, "expected a mapping with a list \"blueprints\", found %s", yamldoc.Describe(top))
		return nil, c.Problems
	}
	c.Pairs(top, func(key, list *yaml.Node) {
		list = yamldoc.Resolve(list)
		switch {
		case key.Value != "blueprints" && !c.Unknown(top, key, fields):
		case list.Kind == yaml.SequenceNode:
			blueprints = list.Content
		case !yamldoc.IsNull(list):
			c.Problemf(list, "expected a list, found %s", yamldoc.Describe(list))
		}
	})
	return blueprints, c.Problems
}

// read makes an entry of a platform blueprint and finds its problems as written.
func (s *Set) read(file string, node *yaml.Node) (entry, []yamldoc.Problem) {
	node = yamldoc.Resolve(node)
	c := s.language.checker(file)
	if node.Kind != yaml.MappingNode {
		c.Problemf(node, "expected a blueprint, found %s", yamldoc.Describe(node))
		return entry{}, c.Problems
	}
	c.Check(node, reflect.TypeFor[blueprint.Blueprint]())
	e := entry{file: file, node: node}
	e.identify(c)
	if yamldoc.Field(node, "name") == nil || e.name == "" && len(c.Problems) == 0 {
		c.Problemf(node, "name: required")
	}
	if e.name != "" && !e.isTemplate && !userstring.CanName(e.name) { // a template is named in files alone
		c.Problemf(yamldoc.Field(node, "name"),
			"name: no user string can name %q: use lower case, without spaces, control characters and |", e.name)
	}
	return e, c.Problems
}

// identify decodes the fields by which blueprints refer to each other.
func (e *entry) identify(c *yamldoc.Checker) {
	written := e.layer()
	for _, field := range []string{"name", "template", "isTemplate"} {
		if v := written.Fields[field]; v.IsExpression() {
			c.Problemf(v.Scalar, "%s: must not be an expression, as it is needed before anything is evaluated", field)
		}
	}
	var own struct {
		Name, Template string
		IsTemplate     bool `yaml:"isTemplate"`
	}
	_ = written.Node().Decode(&own) // Check has reported what does not fit
	e.name, e.template, e.isTemplate = own.Name, own.Template, own.IsTemplate
}

func (e entry) layer() layer.Value { return layer.New(e.name, e.file, e.node) }
