package blueprint

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
)

//go:embed builtin/blueprints.yaml
var builtin []byte

// entry is one blueprint as written: not merged, not checked.
type entry struct {
	name, template string
	isTemplate     bool
	node           *yaml.Node
	file           string
}

// Set is the platform blueprints that are known.
type Set struct{ entries map[string]entry }

// Builtin are the blueprints that berth brings along.
func Builtin() (*Set, error) {
	s := &Set{entries: map[string]entry{}}
	if problems := s.add("built in", builtin); len(problems) > 0 {
		return nil, invalid(problems)
	}
	return s, nil
}

// Load reads the built-in blueprints and then every *.yaml and *.yml file of
// dir, if one is given. What is wrong in any of them is reported together.
func Load(dir string) (*Set, error) {
	s, err := Builtin()
	if err != nil || dir == "" {
		return s, err
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "blueprints directory: %w", err).
			WithHint("name a directory of YAML files with --blueprints or in the configuration")
	}
	var problems []string
	own := map[string]string{}
	for _, file := range files {
		if ext := filepath.Ext(file.Name()); file.IsDir() || ext != ".yaml" && ext != ".yml" {
			continue
		}
		path := filepath.Join(dir, file.Name())
		raw, err := os.ReadFile(path)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		problems = append(problems, s.addOnce(path, raw, own)...)
	}
	if len(problems) > 0 {
		return nil, invalid(problems)
	}
	return s, nil
}

// addOnce adds a file's blueprints and finds those that another file of the
// same directory defines too.
func (s *Set) addOnce(path string, raw []byte, own map[string]string) []string {
	before := s.entries
	s.entries = map[string]entry{}
	problems := s.add(path, raw)
	for name, e := range s.entries {
		if other, ok := own[name]; ok {
			problems = append(problems, fmt.Sprintf("%s:%d: blueprint %q is defined in %s too", path, e.node.Line, name, other))
		}
		own[name] = path
		before[name] = e
	}
	s.entries = before
	return problems
}

func (s *Set) add(file string, raw []byte) (problems []string) {
	// Read twice: once strictly for what is wrong and on which line, once as
	// nodes, for only these tell what was left out from what is empty.
	var typed struct {
		Blueprints []Blueprint `yaml:"blueprints"`
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	decoder.KnownFields(true)
	if err := decoder.Decode(&typed); err != nil && !errors.Is(err, io.EOF) {
		return yamlProblems(file, err)
	}
	var nodes struct {
		Blueprints []yaml.Node `yaml:"blueprints"`
	}
	if err := yaml.Unmarshal(raw, &nodes); err != nil {
		return yamlProblems(file, err)
	}
	for i, b := range typed.Blueprints {
		e := entry{name: b.Name, template: b.Template, isTemplate: b.IsTemplate, node: &nodes.Blueprints[i], file: file}
		if b.Name == "" {
			problems = append(problems, fmt.Sprintf("%s:%d: a blueprint needs a name", file, e.node.Line))
			continue
		}
		if first, ok := s.entries[b.Name]; ok && first.file == file {
			problems = append(problems, fmt.Sprintf("%s:%d: blueprint %q stands on line %d already", file, e.node.Line, b.Name, first.node.Line))
		}
		s.entries[b.Name] = e
	}
	return problems
}

// Names are the blueprints that can be provisioned, sorted.
func (s *Set) Names() []string {
	var names []string
	for name, e := range s.entries {
		if !e.isTemplate {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}
