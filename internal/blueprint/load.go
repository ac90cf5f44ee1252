package blueprint

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Limits of all blueprints together; yamldoc has those of one file.
const (
	maxTotal   = 8 << 20 // bytes of all files together
	maxLineage = 32      // blueprints inheriting from each other
)

//go:embed builtin/blueprints.yaml
var builtin []byte

// entry is one blueprint as written: not merged, not checked.
type entry struct {
	name, template string
	isTemplate     bool
	node           *yaml.Node
	file           string
	// broken is set where a problem has been found in what is written.
	broken bool
	// custom is set for a blueprint of a user's own.
	custom bool
}

// position is where the blueprint begins.
func (e entry) position() string { return fmt.Sprintf("%s:%d", e.file, e.node.Line) }

// Set is the platform blueprints that are known.
type Set struct {
	entries map[string]entry
	own     map[string]bool // those that are not built in
	// language is made when there is an expression.
	language *language
}

// Source is a text in which blueprints stand.
type Source struct {
	// Name is where it was found, for messages: a path, or configmap/ns/name:key.
	Name string
	Text []byte
}

func newSet() *Set {
	return &Set{entries: map[string]entry{}, own: map[string]bool{}, language: newLanguage()}
}

// Has says whether there is a blueprint of that name, template or not.
func (s *Set) Has(name string) bool { _, ok := s.entries[name]; return ok }

// Builtin are the blueprints that berth brings along.
func Builtin() (*Set, error) {
	s := newSet()
	if problems := s.add("built in", builtin); len(problems) > 0 {
		return nil, invalid(problems)
	}
	clear(s.own)
	return s, nil
}

// Load reads the built-in blueprints, then every *.yaml and *.yml file of dir,
// if one is given, then what was found elsewhere. What is wrong in any of them
// is reported together.
func Load(dir string, more ...Source) (*Set, error) {
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
	if problems = append(problems, s.addAll(append(sources, more...))...); len(problems) > 0 {
		return nil, invalid(problems)
	}
	return s, nil
}

// readFiles reads files until all of them together are too large.
func readFiles(files []string) (sources []Source, problems []string) {
	left := maxTotal
	for _, file := range files {
		raw, err := readFile(file)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		if left -= len(raw); left < 0 {
			return sources, append(problems, fmt.Sprintf("%s: the files exceed %d MiB in total", file, maxTotal>>20))
		}
		sources = append(sources, Source{Name: file, Text: raw})
	}
	return sources, problems
}

func (s *Set) addAll(sources []Source) (problems []string) {
	for _, source := range sources {
		problems = append(problems, s.add(source.Name, source.Text)...)
	}
	return problems
}

// add takes the blueprints of one file in.
func (s *Set) add(file string, raw []byte) (problems []string) {
	nodes, problems := parse(file, raw)
	for _, node := range nodes {
		if len(problems) > yamldoc.MaxProblems {
			break // nobody reads on
		}
		e, found := s.read(file, node)
		problems = append(problems, found...)
		first, known := s.entries[e.name]
		switch {
		case e.name == "":
			continue
		case known && s.own[e.name] && first.file == file:
			problems = append(problems, fmt.Sprintf("%s:%d: duplicate blueprint %q (first on line %d)", e.position(), node.Column, e.name, first.node.Line))
		case known && s.own[e.name]:
			problems = append(problems, fmt.Sprintf("%s:%d: duplicate blueprint %q (first in %s)", e.position(), node.Column, e.name, first.file))
		}
		s.entries[e.name], s.own[e.name] = e, true
	}
	return problems
}

// Names are the blueprints that can be provisioned, sorted.
func (s *Set) Names() []string {
	return slices.DeleteFunc(s.all(), func(name string) bool { return s.entries[name].isTemplate })
}

func (s *Set) all() []string { return slices.Sorted(maps.Keys(s.entries)) }
