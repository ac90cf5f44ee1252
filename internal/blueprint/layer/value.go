// Package layer merges YAML layers, such as a blueprint and its ancestors, into one value that knows where each of its
// parts was written.
package layer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/yamldoc"
)

// Place is where a part was written.
type Place struct {
	Layer, File  string // File is empty for a flag
	Line, Column int
}

// String names the layer: dev (team.yaml:4).
func (p Place) String() string {
	if p.File == "" {
		return p.Layer
	}
	return fmt.Sprintf("%s (%s:%d)", p.Layer, p.File, p.Line)
}

// Value is a part of a layer, or of several merged ones: a mapping, a list or a scalar. Scalars stay as they are
// written, because 1.10 is not 1.1 where a string is expected.
type Value struct {
	At     Place
	Scalar *yaml.Node
	Fields map[string]Value // not nil for a mapping
	Items  []Value          // not nil for a list
}

// New makes a value of what is written in a layer.
func New(layer, file string, n *yaml.Node) Value {
	n = yamldoc.Resolve(n)
	v := Value{At: Place{Layer: layer, File: file, Line: n.Line, Column: n.Column}}
	switch n.Kind {
	case yaml.MappingNode:
		v.Fields = map[string]Value{}
		// What is wrong with the keys is reported by the one who read them.
		new(yamldoc.Checker).Pairs(n, func(key, content *yaml.Node) {
			if _, has := v.Fields[key.Value]; !has { // its own keys win over those merged with <<
				v.Fields[key.Value] = New(layer, file, content)
			}
		})
	case yaml.SequenceNode:
		v.Items = make([]Value, 0, len(n.Content))
		for _, item := range n.Content {
			v.Items = append(v.Items, New(layer, file, item))
		}
	default:
		v.Scalar = n
	}
	return v
}

// Node is the value as YAML.
func (v Value) Node() *yaml.Node {
	switch {
	case v.Fields != nil:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range slices.Sorted(maps.Keys(v.Fields)) {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key},
				v.Fields[key].Node())
		}
		return n
	case v.Items != nil:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v.Items {
			n.Content = append(n.Content, item.Node())
		}
		return n
	}
	return v.Scalar
}

// Walk calls each for the scalars that are not null, with their dotted paths: image, env.TEAM, initScripts[0].name.
func (v Value) Walk(each func(path string, leaf Value)) { v.walk("", each) }

func (v Value) walk(path string, each func(path string, leaf Value)) {
	for key, inner := range v.Fields {
		inner.walk(join(path, key), each)
	}
	for i, inner := range v.Items {
		inner.walk(fmt.Sprintf("%s[%d]", path, i), each)
	}
	if v.Scalar != nil && !yamldoc.IsNull(v.Scalar) {
		each(path, v)
	}
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

// Find returns where a path was written. If there is nothing at the path, it is the place of the nearest part around
// it.
func (v Value) Find(path string) Place {
	at, _ := v.Lookup(path)
	return at
}

// Lookup is Find, and reports whether there is something at the path.
func (v Value) Lookup(path string) (at Place, ok bool) {
	for path != "" {
		inner, rest, ok := v.step(path)
		if !ok {
			return v.At, false
		}
		v, path = inner, rest
	}
	return v.At, true
}

// step goes down one part of a path. A key may contain dots, so the longest matching key is taken.
func (v Value) step(path string) (inner Value, rest string, ok bool) {
	longest := -1
	for key, field := range v.Fields {
		after, matches := strings.CutPrefix(path, key)
		if matches && len(key) > longest && (after == "" || after[0] == '.' || after[0] == '[') {
			inner, rest, longest = field, strings.TrimPrefix(after, "."), len(key)
		}
	}
	var i int
	if n, err := fmt.Sscanf(path, "[%d]", &i); n == 1 && err == nil && i < len(v.Items) {
		_, rest, _ = strings.Cut(path, "]")
		return v.Items[i], strings.TrimPrefix(rest, "."), true
	}
	return inner, rest, longest >= 0
}
