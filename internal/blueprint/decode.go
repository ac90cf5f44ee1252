package blueprint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// File is what stands in a file of platform blueprints.
type File struct {
	// Blueprints of this file.
	Blueprints []Blueprint `yaml:"blueprints"`
}

// parse gives the blueprints of a file as nodes: only these tell what was left
// out from what is empty, and where everything stands.
func parse(file string, raw []byte) (blueprints []*yaml.Node, problems []string) {
	top, problems := yamldoc.Read(file, raw)
	if top == nil {
		return nil, problems
	}
	s := &yamldoc.Checker{File: file}
	if top.Kind != yaml.MappingNode {
		s.Problemf(top, "expected a mapping with a list \"blueprints\", found %s", yamldoc.Describe(top))
		return nil, s.Problems
	}
	s.Pairs(top, func(key, list *yaml.Node) {
		list = yamldoc.Resolve(list)
		switch {
		case key.Value != "blueprints":
			s.Problemf(key, "%s", unknownField(key.Value))
		case list.Kind == yaml.SequenceNode:
			blueprints = list.Content
		case !yamldoc.IsNull(list):
			s.Problemf(list, "expected a list, found %s", yamldoc.Describe(list))
		}
	})
	return blueprints, s.Problems
}

// read makes an entry of one blueprint and finds what is wrong in it as it is
// written.
func (s *Set) read(file string, node *yaml.Node) (entry, []string) {
	node = yamldoc.Resolve(node)
	sh := s.shape(file)
	if node.Kind != yaml.MappingNode {
		sh.Problemf(node, "expected a blueprint, found %s", yamldoc.Describe(node))
		return entry{}, sh.Problems
	}
	sh.Check(node, reflect.TypeFor[Blueprint]())
	e := entry{file: file, node: node}
	e.identify(sh)
	if e.name == "" && !slices.ContainsFunc(sh.Problems, func(p string) bool { return strings.Contains(p, "name") }) {
		sh.Problemf(node, "name: required")
	}
	e.broken = len(sh.Problems) > 0
	return e, sh.Problems
}

// identify reads the fields by which blueprints find each other. They are
// needed before anything is evaluated.
func (e *entry) identify(sh *yamldoc.Checker) {
	var own struct {
		Name, Template string
		IsTemplate     bool `yaml:"isTemplate"`
	}
	written := e.lift(e.node)
	for _, field := range []string{"name", "template", "isTemplate"} {
		if n := written.fields[field].scalar; n != nil && isExpression(n) {
			sh.Problemf(n, "%s: must not be an expression, as it is needed before anything is evaluated", field)
		}
	}
	// What cannot be decoded has been said by the check.
	_ = written.node().Decode(&own)
	e.name, e.template, e.isTemplate = own.Name, own.Template, own.IsTemplate
}

func unknownField(field string) string { return fmt.Sprintf("unknown field %q", field) }

func invalid(problems []string) error {
	err := fault.New(fault.InvalidArgument, "invalid blueprints: %s", count(len(problems), "problem"))
	if len(problems) > yamldoc.MaxProblems {
		problems = append(problems[:yamldoc.MaxProblems:yamldoc.MaxProblems], "more problems follow")
	}
	err.Problems = problems
	return err.WithHint("correct the lines above; docs/blueprints.md describes the fields")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// refused is the error about flags: what they set is wrong, not the blueprints.
func refused(problems []string) error {
	err := fault.New(fault.InvalidArgument, "invalid flags: %s", count(len(problems), "problem"))
	err.Problems = problems
	return err.WithHint("flags can set the fields of a custom blueprint: %s; see docs/blueprints.md", strings.Join(settable(), ", "))
}
