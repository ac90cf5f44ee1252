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
	language *language
	// flag is set for what comes from a flag and has no place in any file.
	flag     bool
	problems []string
}

func (s *shape) say(at *yaml.Node, format string, args ...any) {
	if len(s.problems) > maxSaid {
		return
	}
	where := fmt.Sprintf("%s:%d:%d: ", s.file, at.Line, at.Column)
	if s.flag {
		where = s.file + ": "
	}
	s.problems = append(s.problems, where+fmt.Sprintf(format, args...))
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
	case isExpression(n):
		s.expression(n, t)
	case !knownTag(n):
		s.say(n, "the tag %s is not known", n.Tag)
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

// expression checks what stands behind !cel as far as that is possible without
// a user.
func (s *shape) expression(n *yaml.Node, t reflect.Type) {
	result := resultOf(t)
	if result == "" {
		_, wanted := wants(t)
		s.say(n, "found an expression where %s is expected; it can stand for a text, a number, or true or false", wanted)
		return
	}
	if err := s.language.check(n.Value, result); err != nil {
		s.say(n, "%s", err)
	}
}

// knownTag says whether the tag of a node is one of YAML's own.
func knownTag(n *yaml.Node) bool {
	tag := n.ShortTag()
	return strings.HasPrefix(tag, "!!") || tag == "!" || tag == ""
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
	case yaml.ScalarNode:
		if isExpression(n) {
			s.expression(n, reflect.TypeFor[any]())
		} else if !knownTag(n) {
			s.say(n, "the tag %s is not known", n.Tag)
		}
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
		case key.Kind != yaml.ScalarNode || !knownTag(key):
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
