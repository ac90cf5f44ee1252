package catalog

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/blueprint/original"
	"github.com/berthdev/berth/internal/yamldoc"
)

// Override is a field that a flag sets.
type Override struct {
	// Flag is its name, for messages and origins: --set.
	Flag string
	// Path is the dotted path of the field; \. is a dot in a key.
	Path string
	// Value is a string if the field is one, else YAML.
	Value string
}

// settable are the fields that flags can set: those of a custom blueprint, except the name, which the user string
// determines.
func settable() []string {
	return slices.DeleteFunc(blueprint.CustomFields(), func(field string) bool { return field == "name" })
}

// override makes a layer of what flags set.
func (s *Set) override(all []Override) (merged layer.Value, problems []string) {
	merged.Fields = map[string]layer.Value{}
	language := s.language.ofUser()
	for _, o := range all {
		v, found := o.layer(language)
		if problems = append(problems, found...); len(found) == 0 {
			merged = customStrategies().Merge(merged, v)
		}
	}
	return merged, problems
}

func (o Override) layer(l *language) (v layer.Value, problems []string) {
	keys := splitPath(o.Path)
	t, err := fieldType(keys)
	if err != nil {
		return v, []string{fmt.Sprintf("%s %s: %v", o.Flag, o.Path, err)}
	}
	node, problems := o.node(t, l)
	if len(problems) > 0 {
		return v, problems
	}
	v = layer.New(o.Flag, "", node)
	for _, key := range slices.Backward(keys) {
		v = layer.Value{At: v.At, Fields: map[string]layer.Value{key: v}}
	}
	return v, nil
}

// fieldType is the type of the field at a path, which a flag must be able to set.
func fieldType(keys []string) (reflect.Type, error) {
	if len(keys) > yamldoc.MaxDepth {
		return nil, fmt.Errorf("path has more than %d parts", yamldoc.MaxDepth)
	}
	t := reflect.TypeFor[blueprint.Blueprint]()
	for i, key := range keys {
		if key == "" {
			return nil, errors.New("empty part in the path")
		}
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Struct:
			field, known := yamldoc.Fields(t)[key]
			switch {
			case !known:
				return nil, unknownField(keys[:i], key, slices.Collect(maps.Keys(yamldoc.Fields(t))))
			case i == 0 && !slices.Contains(settable(), key):
				return nil, fmt.Errorf("cannot be set by a flag; these can: %s", strings.Join(settable(), ", "))
			}
			t = field
		case reflect.Map:
			t = t.Elem()
		case reflect.Interface:
		case reflect.Slice:
			return nil, fmt.Errorf("set the whole list: %s={a,b}", strings.Join(keys[:i], "."))
		default:
			return nil, fmt.Errorf("unknown field: %s is %s", strings.Join(keys[:i], "."), typeName(t))
		}
	}
	return t, nil
}

// unknownField is the error of a field that a part of a blueprint does not have.
func unknownField(parent []string, key string, fields []string) error {
	if nearest := yamldoc.Nearest(key, fields); nearest != "" {
		return fmt.Errorf("unknown field: did you mean %s?", strings.Join(append(slices.Clone(parent), nearest), "."))
	}
	return errors.New("unknown field")
}

// node parses the value. A list may also be written as Helm does: {a,b}.
func (o Override) node(t reflect.Type, l *language) (node *yaml.Node, problems []string) {
	where := fmt.Sprintf("%s %s", o.Flag, o.Path)
	if t.Kind() == reflect.String {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: o.Value}, nil
	}
	text := o.Value
	if inner, ok := strings.CutPrefix(text, "{"); ok && t.Kind() == reflect.Slice && strings.HasSuffix(inner, "}") {
		text = "[" + strings.TrimSuffix(inner, "}") + "]"
	}
	node, unread := yamldoc.Read(where, []byte(text))
	if len(unread) > 0 {
		return nil, []string{fmt.Sprintf("%s: %q is not %s", where, shorten(o.Value, 60), typeName(t))}
	}
	if node == nil {
		return nil, []string{fmt.Sprintf("%s: expected %s, found null", where, typeName(t))}
	}
	node = original.AdoptAt(splitPath(o.Path), node)
	c := l.checker(where)
	c.Check(node, t)
	for _, p := range c.Problems {
		problems = append(problems, where+": "+p.Message)
	}
	return node, problems
}

func typeName(t reflect.Type) string {
	_, name := yamldoc.Expected(t)
	return name
}

// splitPath splits at dots that are not escaped.
func splitPath(path string) []string {
	var keys []string
	var key strings.Builder
	escaped := false
	for _, r := range path {
		switch {
		case escaped:
			key.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '.':
			keys = append(keys, key.String())
			key.Reset()
		default:
			key.WriteRune(r)
		}
	}
	return append(keys, key.String())
}
