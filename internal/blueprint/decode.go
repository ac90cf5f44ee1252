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

// document reads the one document of a file; nil if there is nothing in it.
func document(file string, raw []byte) (top *yaml.Node, problems []string) {
	if len(raw) > maxFile {
		return nil, []string{fmt.Sprintf("%s: is larger than %d MiB", file, maxFile>>20)}
	}
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
		return nil, []string{fmt.Sprintf("%s:%d: a second document: there is one in a file", file, second.Line)}
	} else if !errors.Is(err, io.EOF) {
		return nil, []string{syntaxProblem(file, err)}
	}
	if top = behind(document.Content[0]); isNull(top) {
		return nil, nil
	}
	return top, nil
}

// parse gives the blueprints of a file as nodes: only these tell what was left
// out from what is empty, and where everything stands.
func parse(file string, raw []byte) (blueprints []*yaml.Node, problems []string) {
	top, problems := document(file, raw)
	if top == nil {
		return nil, problems
	}
	s := &shape{file: file}
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
func (s *Set) read(file string, node *yaml.Node) (entry, []string) {
	node = behind(node)
	sh := &shape{file: file, language: s.language}
	if node.Kind != yaml.MappingNode {
		sh.say(node, "found %s where a blueprint is expected", found(node))
		return entry{}, sh.problems
	}
	sh.check(node, reflect.TypeFor[Blueprint]())
	e := entry{file: file, node: node}
	e.identify(sh)
	if e.name == "" && !slices.ContainsFunc(sh.problems, func(p string) bool { return strings.Contains(p, "name") }) {
		sh.say(node, "a blueprint needs a name")
	}
	e.broken = len(sh.problems) > 0
	return e, sh.problems
}

// identify reads the fields by which blueprints find each other. They are
// needed before anything is evaluated.
func (e *entry) identify(sh *shape) {
	var own struct {
		Name, Template string
		IsTemplate     bool `yaml:"isTemplate"`
	}
	written := e.lift(e.node)
	for _, field := range []string{"name", "template", "isTemplate"} {
		if n := written.fields[field].scalar; n != nil && isExpression(n) {
			sh.say(n, "%s: cannot be an expression: it is needed before anything is evaluated", field)
		}
	}
	// What cannot be decoded has been said by the check.
	_ = written.node().Decode(&own)
	e.name, e.template, e.isTemplate = own.Name, own.Template, own.IsTemplate
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

// refused is the error about flags: what they set is wrong, not the blueprints.
func refused(problems []string) error {
	err := fault.New(fault.InvalidArgument, "the flags have %s", count(len(problems), "problem"))
	err.Problems = problems
	return err.WithHint("a single run can set what a custom blueprint can: %s; see docs/blueprints.md", strings.Join(settable(), ", "))
}
