package yamldoc

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/fault"
)

// Checker compares YAML as written with the type that it is decoded into, and collects everything that does not fit.
type Checker struct {
	File string
	// OnTag checks a scalar with a custom tag in the place of a value of type t. If nil, custom tags are problems,
	// except in a value of type any.
	OnTag    func(n *yaml.Node, t reflect.Type)
	Problems []Problem
}

// Problemf adds a problem of a node.
func (c *Checker) Problemf(at *yaml.Node, format string, args ...any) {
	if len(c.Problems) > MaxProblems {
		return
	}
	c.Problems = append(c.Problems,
		Problem{File: c.File, Line: at.Line, Column: at.Column, Message: fmt.Sprintf(format, args...)})
}

// Reported reports whether there is a problem of a node already.
func (c *Checker) Reported(n *yaml.Node) bool {
	return slices.ContainsFunc(c.Problems, func(p Problem) bool { return p.Line == n.Line && p.Column == n.Column })
}

// Check finds what does not fit the type t. A value of type any is passed on as it is: only its keys are checked, and
// its tags if OnTag is set.
//
// What does not fit becomes null, and a key that is misspelled the one that is meant: so the rest can be checked
// further, and a mistake is not reported again as what follows from it.
func (c *Checker) Check(n *yaml.Node, t reflect.Type) {
	n = Resolve(n)
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if IsNull(n) {
		return // the same as left out
	}
	inner, isAny := t, t.Kind() == reflect.Interface
	if t.Kind() == reflect.Map || t.Kind() == reflect.Slice {
		inner = t.Elem()
	}
	switch {
	case CustomTag(n) != "" && (c.OnTag != nil || !isAny):
		c.tagged(n, t)
	case !isAny && !c.fits(n, t):
	case t.Kind() == reflect.Struct:
		fields := Fields(t)
		c.Pairs(n, func(key, value *yaml.Node) {
			if fields[key.Value] == nil && !c.Unknown(n, key, fields) {
				Drop(value)
				return
			}
			c.Check(value, fields[key.Value])
		})
	case n.Kind == yaml.MappingNode:
		c.Pairs(n, func(_, value *yaml.Node) { c.Check(value, inner) })
	case n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			c.Check(item, inner)
		}
	}
}

// fits reports whether a node is of the kind that a type is written as, and what keeps it from being one of the type.
func (c *Checker) fits(n *yaml.Node, t reflect.Type) bool {
	switch kind, expected := Expected(t); {
	case n.Kind != kind, !tagFits(n, t):
		c.Misfit(n, "expected %s, found %s", expected, Describe(n))
	case n.Kind == yaml.ScalarNode && n.Decode(reflect.New(t).Interface()) != nil:
		c.Misfit(n, "%q is not %s", fault.Shorten(n.Value, maxShown), expected)
	default:
		return true
	}
	return false
}

// Misfit adds a problem of a value that cannot be worked with.
func (c *Checker) Misfit(n *yaml.Node, format string, args ...any) {
	c.Problemf(n, format, args...)
	Drop(n)
}

// Drop makes a value null, which is the same as left out.
func Drop(n *yaml.Node) {
	*n = yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null", Line: n.Line, Column: n.Column}
}

// Unknown adds a problem of a key of a mapping that is not one of the fields. If one of them is meant that the mapping
// does not have, the key becomes that.
func (c *Checker) Unknown(mapping, key *yaml.Node, fields map[string]reflect.Type) (meant bool) {
	nearest := Nearest(key.Value, slices.Collect(maps.Keys(fields)))
	if nearest == "" {
		c.Problemf(key, "unknown field %q%s", fault.Shorten(key.Value, maxShown), elsewhere(key.Value, fields))
		return false
	}
	c.Problemf(key, "unknown field %q: did you mean %s?", fault.Shorten(key.Value, maxShown), nearest)
	if Field(mapping, nearest) != nil {
		return false
	}
	key.Value = nearest
	return true
}

// elsewhere says that a field belongs into one of those that are there, or which ones are.
func elsewhere(name string, fields map[string]reflect.Type) string {
	for _, outer := range slices.Sorted(maps.Keys(fields)) {
		if t := fields[outer]; t.Kind() == reflect.Struct && Fields(t)[name] != nil {
			return fmt.Sprintf(": did you mean %s.%s?", outer, name)
		}
	}
	if len(fields) > maxListed {
		return ""
	}
	return ": must be one of " + strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
}

// maxListed is how many fields are listed where it is not known which one is meant.
const maxListed = 12

// maxShown is how much of a value is shown, to recognize it.
const maxShown = 60 // bytes

func (c *Checker) tagged(n *yaml.Node, t reflect.Type) {
	if c.OnTag == nil || n.Kind != yaml.ScalarNode {
		c.Misfit(n, "unknown tag %s", CustomTag(n))
		return
	}
	c.OnTag(n, t)
}

// Pairs calls each for the pairs of a mapping, and then for those merged with <<.
func (c *Checker) Pairs(n *yaml.Node, each func(key, value *yaml.Node)) {
	lines := map[string]int{}
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := Resolve(n.Content[i]), n.Content[i+1]
		switch first, duplicate := lines[key.Value]; {
		case isMerge(key):
			merged = append(merged, value)
		case key.Kind != yaml.ScalarNode || CustomTag(key) != "":
			c.Problemf(key, "a key must be a string, found %s", Describe(key))
		case duplicate:
			c.Problemf(key, "duplicate key %q (first on line %d)", key.Value, first)
		default:
			lines[key.Value] = key.Line
			each(key, value)
		}
	}
	for _, value := range merged {
		c.merged(Resolve(value), each)
	}
}

func (c *Checker) merged(n *yaml.Node, each func(key, value *yaml.Node)) {
	switch n.Kind {
	case yaml.MappingNode:
		c.Pairs(n, each)
	case yaml.SequenceNode:
		for _, item := range n.Content {
			c.merged(Resolve(item), each)
		}
	default:
		c.Problemf(n, "<< requires a mapping, found %s", Describe(n))
	}
}

// Expected is the kind of node that a type is written as, and its name in messages.
func Expected(t reflect.Type) (kind yaml.Kind, name string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Struct:
		return yaml.MappingNode, "a mapping"
	case reflect.Map:
		if t.Elem().Kind() == reflect.String {
			return yaml.MappingNode, "a mapping of strings"
		}
		return yaml.MappingNode, "a mapping"
	case reflect.Slice:
		return yaml.SequenceNode, "a list"
	case reflect.Bool:
		return yaml.ScalarNode, "a boolean"
	case reflect.Int, reflect.Int64:
		return yaml.ScalarNode, "an integer"
	case reflect.Float64:
		return yaml.ScalarNode, "a number"
	default:
		return yaml.ScalarNode, "a string"
	}
}

// tagFits reports whether a node is a boolean or a number where the type is one.
func tagFits(n *yaml.Node, t reflect.Type) bool {
	switch tag := n.ShortTag(); t.Kind() {
	case reflect.Bool:
		return tag == "!!bool"
	case reflect.Int, reflect.Int64:
		return tag == "!!int"
	case reflect.Float64:
		return tag == "!!int" || tag == "!!float"
	}
	return true
}

// Fields are the types of a struct's fields by their names in YAML.
func Fields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		switch {
		case options == "inline":
			maps.Copy(fields, Fields(field.Type))
		case name != "" && name != "-":
			fields[name] = field.Type
		}
	}
	return fields
}
