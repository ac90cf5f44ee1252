package blueprint

import (
	"fmt"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// shape compares a part of a file, as written, with the type that it is to
// become, and finds all that does not fit, with the place of each.
type shape struct {
	file     string
	problems []string
}

func (s *shape) say(at *yaml.Node, format string, args ...any) {
	if len(s.problems) > maxSaid {
		return
	}
	s.problems = append(s.problems, fmt.Sprintf("%s:%d:%d: ", s.file, at.Line, at.Column)+fmt.Sprintf(format, args...))
}

func (s *shape) check(n *yaml.Node, t reflect.Type) {
	n = behind(n)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if isNull(n) {
		return // the same as left out
	}
	kind, wanted := wants(t)
	switch {
	case t.Kind() == reflect.Interface:
		s.any(n)
	case n.Kind != kind, t.Kind() == reflect.Bool && n.ShortTag() != "!!bool", t.Kind() == reflect.Int64 && n.ShortTag() != "!!int":
		s.say(n, "found %s where %s is expected", found(n), wanted)
	case t.Kind() == reflect.Struct:
		s.fields(n, fieldsOf(t))
	case t.Kind() == reflect.Map:
		s.pairs(n, func(_, value *yaml.Node) { s.check(value, t.Elem()) })
	case t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			s.check(item, t.Elem())
		}
	}
}

// fields checks a mapping whose keys are known.
func (s *shape) fields(n *yaml.Node, known map[string]reflect.Type) {
	s.pairs(n, func(key, value *yaml.Node) {
		if t, ok := known[key.Value]; ok {
			s.check(value, t)
			return
		}
		s.say(key, "%s", unknownField(key.Value))
	})
}

// any checks what is handed to Kubernetes as it is.
func (s *shape) any(n *yaml.Node) {
	switch n.Kind {
	case yaml.MappingNode:
		s.pairs(n, func(_, value *yaml.Node) { s.any(behind(value)) })
	case yaml.SequenceNode:
		for _, item := range n.Content {
			s.any(behind(item))
		}
	}
}

// pairs goes through a mapping; what is merged in with << belongs to it.
func (s *shape) pairs(n *yaml.Node, each func(key, value *yaml.Node)) {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := behind(n.Content[i]), n.Content[i+1]
		switch first, twice := lines[key.Value]; {
		case isMerge(key):
			s.merged(behind(value), each)
		case key.Kind != yaml.ScalarNode:
			s.say(key, "a key is a text, not %s", found(key))
		case twice:
			s.say(key, "%q stands on line %d already", key.Value, first)
		default:
			lines[key.Value] = key.Line
			each(key, value)
		}
	}
}

func (s *shape) merged(n *yaml.Node, each func(key, value *yaml.Node)) {
	switch n.Kind {
	case yaml.MappingNode:
		s.pairs(n, each)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			s.merged(behind(item), each)
		}
	default:
		s.say(n, "<< takes mappings, not %s", found(n))
	}
}

// wants is the kind of node that a type is written as, and its name.
func wants(t reflect.Type) (kind yaml.Kind, name string) {
	switch t.Kind() {
	case reflect.Struct:
		return yaml.MappingNode, "a mapping"
	case reflect.Map:
		if t.Elem().Kind() == reflect.String {
			return yaml.MappingNode, "a mapping of texts"
		}
		return yaml.MappingNode, "a mapping"
	case reflect.Slice:
		return yaml.SequenceNode, "a list"
	case reflect.Bool:
		return yaml.ScalarNode, "true or false"
	case reflect.Int64:
		return yaml.ScalarNode, "a whole number"
	default:
		return yaml.ScalarNode, "a text"
	}
}

// fieldsOf are the fields of a struct by their names in YAML.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		if name != "" && name != "-" {
			fields[name] = field.Type
		}
	}
	return fields
}
