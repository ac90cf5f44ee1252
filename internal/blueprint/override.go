package blueprint

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/yamldoc"
)

// Override is a field that is set for a single run.
type Override struct {
	// Flag is where it was set, for messages and origins: --set.
	Flag string
	// Path is the dotted path of the field; \. is a dot in a key.
	Path string
	// Value is a text where the field is one, and YAML otherwise.
	Value string
}

// settable are the fields that a single run may set: those of a custom
// blueprint, but for the name, which the user string decides.
func settable() []string {
	return slices.DeleteFunc(CustomFields(), func(field string) bool { return field == "name" })
}

// override makes a layer of what a single run sets.
func (s *Set) override(all []Override) (layer value, problems []string) {
	layer = value{fields: map[string]value{}}
	language := s.language.anew()
	for _, o := range all {
		v, found := o.layer(language)
		if problems = append(problems, found...); len(found) == 0 {
			layer = ownStrategies().overlay("", layer, v)
		}
	}
	return layer, problems
}

func (o Override) layer(l *language) (value, []string) {
	at := place{layer: o.Flag}
	fail := func(format string, args ...any) (value, []string) {
		return value{}, []string{fmt.Sprintf("%s %s: ", o.Flag, o.Path) + fmt.Sprintf(format, args...)}
	}
	keys := splitPath(o.Path)
	if len(keys) > yamldoc.MaxDepth {
		return fail("path has more than %d parts", yamldoc.MaxDepth)
	}
	t := reflect.TypeFor[Blueprint]()
	for i, key := range keys {
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		fields := map[string]reflect.Type{}
		if t.Kind() == reflect.Struct {
			fields = yamldoc.Fields(t)
		}
		inner, known := fields[key]
		switch {
		case key == "":
			return fail("empty part in the path")
		case t.Kind() == reflect.Struct && !known:
			return fail("unknown field")
		case i == 0 && !slices.Contains(settable(), key):
			return fail("cannot be set by a flag; these can: %s", strings.Join(settable(), ", "))
		case t.Kind() == reflect.Struct:
			t = inner
		case t.Kind() == reflect.Map:
			t = t.Elem()
		case t.Kind() == reflect.Slice:
			return fail("set the whole list: %s={a,b}", strings.Join(keys[:i], "."))
		case t.Kind() != reflect.Interface:
			return fail("unknown field: %s is %s", strings.Join(keys[:i], "."), article(t))
		}
	}
	node, problems := o.node(t, l)
	if len(problems) > 0 {
		return value{}, problems
	}
	v := entry{name: o.Flag}.lift(node).placed(at)
	for _, key := range slices.Backward(keys) {
		v = value{at: at, fields: map[string]value{key: v}}
	}
	return v, nil
}

// node reads the value. What Helm writes as {a,b} is a list where one is
// expected.
func (o Override) node(t reflect.Type, l *language) (*yaml.Node, []string) {
	where := fmt.Sprintf("%s %s", o.Flag, o.Path)
	if t.Kind() == reflect.String {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: o.Value}, nil
	}
	text := o.Value
	if inner, ok := strings.CutPrefix(text, "{"); ok && t.Kind() == reflect.Slice && strings.HasSuffix(inner, "}") {
		text = "[" + strings.TrimSuffix(inner, "}") + "]"
	}
	node, problems := yamldoc.Read(where, []byte(text))
	if len(problems) > 0 {
		return nil, []string{fmt.Sprintf("%s: %q is not %s", where, cut(o.Value, 60), article(t))}
	}
	if node == nil {
		return nil, []string{fmt.Sprintf("%s: expected %s, found null", where, article(t))}
	}
	s := l.shape(where)
	s.Position = func(*yaml.Node) string { return where }
	s.Check(node, t)
	return node, s.Problems
}

func article(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
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

// placed gives everything in a value one place.
func (v value) placed(at place) value {
	v.at = at
	for key, inner := range v.fields {
		v.fields[key] = inner.placed(at)
	}
	for i, inner := range v.items {
		v.items[i] = inner.placed(at)
	}
	return v
}
