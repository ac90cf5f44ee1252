// Package catalog loads blueprints, merges them with those they inherit from, and resolves them for a user.
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
	// own are those that are looked for problems, in the order of the files: not the built-in ones.
	own []entry
	// texts are the files, to show a line of them.
	texts map[string][]byte
	// parsed are the files that need not be parsed, by their names.
	parsed map[string]*yaml.Node
	// language is created with the first expression.
	language *language
}

// entry is one blueprint as written.
type entry struct {
	name, template string
	isTemplate     bool
	node           *yaml.Node
	file           string
	custom         bool   // it is a user's own
	text           []byte // of the file, if it is one
	commit         string // of the repository, if it is one's
}

// position is where the blueprint begins.
func (e entry) position() string { return fmt.Sprintf("%s:%d", e.file, e.node.Line) }

func newSet() *Set {
	return &Set{entries: map[string]entry{}, texts: map[string][]byte{}, language: newLanguage()}
}

// Builtin has the built-in blueprints.
func Builtin() (*Set, error) {
	s := newSet()
	if problems := s.add(blueprint.Source{Name: "built in", Text: builtin}); len(problems) > 0 {
		return nil, s.invalid(problems, entry{})
	}
	s.own = nil
	return s, nil
}

// Load reads the built-in blueprints, then the *.yaml and *.yml files of dir, if it is not empty, then the other
// sources. The error has the problems of all of them.
func Load(dir string, more ...blueprint.Source) (*Set, error) {
	s, err := Builtin()
	if err != nil {
		return nil, err
	}
	sources, problems, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	if problems = append(problems, s.add(append(sources, more...)...)...); len(problems) > 0 {
		return nil, s.invalid(s.check(problems, s.own, nil), entry{})
	}
	return s, nil
}

// readDir reads the files of a directory; none if it is empty.
func readDir(dir string) (sources []blueprint.Source, problems []yamldoc.Problem, err error) {
	if dir == "" {
		return nil, nil, nil
	}
	files, err := listDir(dir)
	if err != nil {
		return nil, nil, fault.New(fault.InvalidArgument, "blueprints directory: %w", err).
			WithHint("name a directory of YAML files with --blueprints or in the configuration")
	}
	sources, problems = readFiles(files)
	return sources, problems, nil
}

// add adds the blueprints of sources, and finds their problems as written. Those that were there before are replaced.
func (s *Set) add(sources ...blueprint.Source) (problems []yamldoc.Problem) {
	s.own = nil
	first, left := map[string]entry{}, maxTotal
	for _, source := range sources {
		s.texts[source.Name] = source.Text
		nodes, found := s.parse(source, &left)
		problems = append(problems, found...)
		for _, node := range nodes {
			if len(problems) > yamldoc.MaxProblems {
				return problems
			}
			e, found := s.read(source.Name, node)
			problems = append(problems, found...)
			if e.node == nil {
				continue
			}
			s.own = append(s.own, e)
			before, duplicate := first[e.name]
			switch {
			case e.name == "":
			case duplicate:
				problems = append(problems, e.duplicate(before))
			default:
				s.entries[e.name], first[e.name] = e, e
			}
		}
	}
	return problems
}

// duplicate is the problem of a name that another blueprint has.
func (e entry) duplicate(first entry) yamldoc.Problem {
	where := fmt.Sprintf("on line %d", first.node.Line)
	if first.file != e.file {
		where = "in " + first.position()
	}
	return e.problem("name", "duplicate blueprint %q (first %s)", e.name, where)
}

// problem is one of the line that has a field.
func (e entry) problem(field, format string, args ...any) yamldoc.Problem {
	at := e.node
	if n := yamldoc.Field(e.node, field); n != nil {
		at = n
	}
	return yamldoc.Problem{File: e.file, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...)}
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
