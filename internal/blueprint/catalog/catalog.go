// Package catalog loads blueprints, merges them with those they inherit from, and
// resolves them for a user.
package catalog

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

//go:embed builtin/blueprints.yaml
var builtin []byte

// Set is the platform blueprints by name.
type Set struct {
	entries map[string]entry
	own     map[string]bool // those that are not built in
	// language is created with the first expression.
	language *language
}

// entry is one blueprint as written.
type entry struct {
	name, template string
	isTemplate     bool
	node           *yaml.Node
	file           string
	broken         bool // it has a problem as written
	custom         bool // it is a user's own
}

// position is where the blueprint begins.
func (e entry) position() string { return fmt.Sprintf("%s:%d", e.file, e.node.Line) }

func newSet() *Set {
	return &Set{entries: map[string]entry{}, own: map[string]bool{}, language: newLanguage()}
}

// Builtin has the built-in blueprints.
func Builtin() (*Set, error) {
	s := newSet()
	if problems := s.add(blueprint.Source{Name: "built in", Text: builtin}); len(problems) > 0 {
		return nil, invalid(problems)
	}
	clear(s.own)
	return s, nil
}

// Load reads the built-in blueprints, then the *.yaml and *.yml files of dir, if
// it is not empty, then the other sources. The error has the problems of all of
// them.
func Load(dir string, more ...blueprint.Source) (*Set, error) {
	s, err := Builtin()
	if err != nil {
		return nil, err
	}
	var files []string
	if dir != "" {
		if files, err = listDir(dir); err != nil {
			return nil, fault.New(fault.InvalidArgument, "blueprints directory: %w", err).
				WithHint("name a directory of YAML files with --blueprints or in the configuration")
		}
	}
	sources, problems := readFiles(files)
	if problems = append(problems, s.add(append(sources, more...)...)...); len(problems) > 0 {
		return nil, invalid(problems)
	}
	return s, nil
}

// add adds the blueprints of sources. Only built-in ones may be replaced.
func (s *Set) add(sources ...blueprint.Source) (problems []string) {
	for _, source := range sources {
		nodes, found := parse(source)
		problems = append(problems, found...)
		for _, node := range nodes {
			if len(problems) > yamldoc.MaxProblems {
				return problems
			}
			e, found := s.read(source.Name, node)
			problems = append(problems, found...)
			if e.name == "" {
				continue
			}
			switch first := s.entries[e.name]; {
			case s.own[e.name] && first.file == e.file:
				problems = append(problems, fmt.Sprintf("%s:%d: duplicate blueprint %q (first on line %d)", e.position(), node.Column, e.name, first.node.Line))
			case s.own[e.name]:
				problems = append(problems, fmt.Sprintf("%s:%d: duplicate blueprint %q (first in %s)", e.position(), node.Column, e.name, first.file))
			}
			s.entries[e.name], s.own[e.name] = e, true
		}
	}
	return problems
}

// Has reports whether there is a blueprint of that name, template or not.
func (s *Set) Has(name string) bool { _, ok := s.entries[name]; return ok }

// Names are the blueprints that can be provisioned, sorted.
func (s *Set) Names() []string {
	return slices.DeleteFunc(s.all(), func(name string) bool { return s.entries[name].isTemplate })
}

func (s *Set) all() []string { return slices.Sorted(maps.Keys(s.entries)) }

// Summary is what is known of a blueprint without resolving it.
type Summary struct {
	Name, Description, Template, Origin string
	IsTemplate                          bool
}

// List has all blueprints, sorted by name.
func (s *Set) List() (all []Summary) {
	for _, name := range s.all() {
		e := s.entries[name]
		summary := Summary{Name: name, Template: e.template, Origin: e.position(), IsTemplate: e.isTemplate}
		if n := yamldoc.Field(e.node, "description"); n != nil && !yamldoc.IsNull(n) {
			summary.Description = n.Value
		}
		all = append(all, summary)
	}
	return all
}
