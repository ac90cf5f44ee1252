package blueprint

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
)

// File is what stands in a file of platform blueprints.
type File struct {
	// Blueprints of this file.
	Blueprints []Blueprint `yaml:"blueprints"`
}

// parse gives the blueprints of a file as nodes: only these tell what was left
// out from what is empty, and where everything stands.
func parse(file string, raw []byte) (blueprints []*yaml.Node, problems []string) {
	if crowded(raw) {
		return nil, []string{file + ": has more values than a file of blueprints can have"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, []string{syntaxProblem(file, err)}
	}
	if what, at := measure(&document); what != "" {
		return nil, []string{fmt.Sprintf("%s:%d:%d: %s", file, at.Line, at.Column, what)}
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, []string{fmt.Sprintf("%s:%d: a second document: all blueprints of a file stand in one list", file, second.Line)}
	} else if !errors.Is(err, io.EOF) {
		return nil, []string{syntaxProblem(file, err)}
	}
	top := behind(document.Content[0])
	s := &shape{file: file}
	if isNull(top) {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		s.say(top, "found %s where a mapping with a list \"blueprints\" is expected", found(top))
		return nil, s.problems
	}
	s.pairs(top, func(key, list *yaml.Node) {
		list = behind(list)
		switch {
		case key.Value != "blueprints":
			s.say(key, "%s", unknownField(key.Value))
		case list.Kind == yaml.SequenceNode:
			blueprints = list.Content
		case !isNull(list):
			s.say(list, "found %s where a list is expected", found(list))
		}
	})
	return blueprints, s.problems
}

// read makes an entry of one blueprint and finds what is wrong in it as it is
// written.
func read(file string, node *yaml.Node) (entry, []string) {
	node = behind(node)
	s := &shape{file: file}
	if node.Kind != yaml.MappingNode {
		s.say(node, "found %s where a blueprint is expected", found(node))
		return entry{}, s.problems
	}
	s.check(node, reflect.TypeFor[Blueprint]())
	var own struct {
		Name, Template string
		IsTemplate     bool `yaml:"isTemplate"`
	}
	e := entry{file: file, node: node}
	// What cannot be decoded has been said by the check.
	_ = e.lift(node).node().Decode(&own)
	e.name, e.template, e.isTemplate = own.Name, own.Template, own.IsTemplate
	if e.name == "" && !slices.ContainsFunc(s.problems, func(p string) bool { return strings.Contains(p, "name") }) {
		s.say(node, "a blueprint needs a name")
	}
	e.broken = len(s.problems) > 0
	return e, s.problems
}

// syntaxProblem turns the parser's "yaml: line 3: what" into file:3: what.
func syntaxProblem(file string, err error) string {
	what := strings.TrimPrefix(err.Error(), "yaml: ")
	var line int
	if n, _ := fmt.Sscanf(what, "line %d:", &line); n == 1 {
		_, what, _ = strings.Cut(what, ": ")
		return fmt.Sprintf("%s:%d: %s", file, line, what)
	}
	return file + ": " + what
}

func unknownField(field string) string { return fmt.Sprintf("field %q does not exist", field) }

func invalid(problems []string) error {
	err := fault.New(fault.InvalidArgument, "the blueprints have %s", count(len(problems), "problem"))
	if len(problems) > maxSaid {
		problems = append(problems[:maxSaid:maxSaid], "and more; these are the first")
	}
	err.Problems = problems
	return err.WithHint("mend the lines named above; the fields are described in docs/blueprints.md")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
