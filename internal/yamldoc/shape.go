package yamldoc

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Shape compares a part of a file, as written, with the type that it is to
// become, and finds all that does not fit, with the place of each.
type Shape struct {
	// At says where a node stands: file:line:column if it is nil.
	At func(n *yaml.Node) string
	// File is what the default of At calls the file.
	File string
	// Tagged looks at a scalar with a tag that is not YAML's own, where a value of
	// type t is expected. Nil refuses them, but for what is free and only passed
	// on.
	Tagged   func(n *yaml.Node, t reflect.Type)
	Problems []string
}

// Say adds a problem of a node.
func (s *Shape) Say(at *yaml.Node, format string, args ...any) {
	if len(s.Problems) > MaxProblems {
		return
	}
	place := fmt.Sprintf("%s:%d:%d", s.File, at.Line, at.Column)
	if s.At != nil {
		place = s.At(at)
	}
	s.Problems = append(s.Problems, place+": "+fmt.Sprintf(format, args...))
}

// Check finds what does not fit the type t.
func (s *Shape) Check(n *yaml.Node, t reflect.Type) {
	n = Behind(n)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if IsNull(n) {
		return // the same as left out
	}
	kind, wanted := Wants(t)
	switch {
	case OwnTag(n) != "":
		s.tagged(n, t)
	case t.Kind() == reflect.Interface:
		s.any(n)
	case n.Kind != kind, t.Kind() == reflect.Bool && n.ShortTag() != "!!bool", isWhole(t) && n.ShortTag() != "!!int":
		s.Say(n, "found %s where %s is expected", Found(n), wanted)
	case t.Kind() == reflect.Struct:
		s.fields(n, FieldsOf(t))
	case t.Kind() == reflect.Map:
		s.Pairs(n, func(_, value *yaml.Node) { s.Check(value, t.Elem()) })
	case t.Kind() == reflect.Slice:
		for _, item := range n.Content {
			s.Check(item, t.Elem())
		}
	}
}

func (s *Shape) tagged(n *yaml.Node, t reflect.Type) {
	if s.Tagged == nil || n.Kind != yaml.ScalarNode {
		s.Say(n, "the tag %s is not known", OwnTag(n))
		return
	}
	s.Tagged(n, t)
}

// fields checks a mapping whose keys are known.
func (s *Shape) fields(n *yaml.Node, known map[string]reflect.Type) {
	s.Pairs(n, func(key, value *yaml.Node) {
		if t, ok := known[key.Value]; ok {
			s.Check(value, t)
			return
		}
		s.Say(key, "field %q does not exist", key.Value)
	})
}

// any checks what is handed to Kubernetes as it is.
func (s *Shape) any(n *yaml.Node) {
	switch {
	case OwnTag(n) != "" && s.Tagged != nil:
		s.tagged(n, reflect.TypeFor[any]())
	case n.Kind == yaml.MappingNode:
		s.Pairs(n, func(_, value *yaml.Node) { s.any(Behind(value)) })
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			s.any(Behind(item))
		}
	}
}

// Pairs goes through a mapping; what is merged in with << belongs to it.
func (s *Shape) Pairs(n *yaml.Node, each func(key, value *yaml.Node)) {
	lines := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := Behind(n.Content[i]), n.Content[i+1]
		switch first, twice := lines[key.Value]; {
		case IsMerge(key):
			s.merged(Behind(value), each)
		case key.Kind != yaml.ScalarNode || OwnTag(key) != "":
			s.Say(key, "a key is a text, not %s", Found(key))
		case twice:
			s.Say(key, "%q stands on line %d already", key.Value, first)
		default:
			lines[key.Value] = key.Line
			each(key, value)
		}
	}
}

func (s *Shape) merged(n *yaml.Node, each func(key, value *yaml.Node)) {
	switch n.Kind {
	case yaml.MappingNode:
		s.Pairs(n, each)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			s.merged(Behind(item), each)
		}
	default:
		s.Say(n, "<< takes mappings, not %s", Found(n))
	}
}

// Wants is the kind of node that a type is written as, and its name.
func Wants(t reflect.Type) (kind yaml.Kind, name string) {
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
	case reflect.Int, reflect.Int64:
		return yaml.ScalarNode, "a whole number"
	default:
		return yaml.ScalarNode, "a text"
	}
}

func isWhole(t reflect.Type) bool { return t.Kind() == reflect.Int || t.Kind() == reflect.Int64 }

// FieldsOf are the fields of a struct by their names in YAML.
func FieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			maps.Copy(fields, FieldsOf(field.Type))
		case name != "" && name != "-":
			fields[name] = field.Type
		}
	}
	return fields
}
