package blueprint

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/yamldoc"
)

// place is where a part of a blueprint was written: in which blueprint of which
// file, and where there.
type place struct {
	layer, file  string
	line, column int
}

// String says which layer it is: dev (team.yaml:4).
func (p place) String() string {
	if p.file == "" {
		return p.layer // a flag
	}
	return fmt.Sprintf("%s (%s:%d)", p.layer, p.file, p.line)
}

// value is a part of a blueprint while its layers are laid over each other.
// Scalars stay as they are written, for 1.10 is not 1.1 where a text is meant;
// and each part knows its place.
type value struct {
	at     place
	scalar *yaml.Node
	fields map[string]value // not nil: a mapping
	items  []value          // not nil: a list
}

// lift makes a value of what is written in a layer.
func (e entry) lift(n *yaml.Node) value {
	n = yamldoc.Resolve(n)
	v := value{at: place{layer: e.name, file: e.file, line: n.Line, column: n.Column}}
	switch n.Kind {
	case yaml.MappingNode:
		v.fields = map[string]value{}
		e.liftFields(n, v.fields)
	case yaml.SequenceNode:
		v.items = make([]value, 0, len(n.Content))
		for _, item := range n.Content {
			v.items = append(v.items, e.lift(item))
		}
	default:
		v.scalar = n
	}
	return v
}

// liftFields lifts the pairs of a mapping. What << merges in yields to what the
// mapping says itself.
func (e entry) liftFields(n *yaml.Node, into map[string]value) {
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, content := yamldoc.Resolve(n.Content[i]), yamldoc.Resolve(n.Content[i+1])
		switch _, has := into[key.Value]; {
		case yamldoc.IsMerge(key) && content.Kind == yaml.SequenceNode:
			merged = append(merged, content.Content...)
		case yamldoc.IsMerge(key):
			merged = append(merged, content)
		case !has:
			into[key.Value] = e.lift(content)
		}
	}
	for _, m := range merged {
		if m = yamldoc.Resolve(m); m.Kind == yaml.MappingNode {
			e.liftFields(m, into)
		}
	}
}

// overlay lays child over parent: of scalars the child's, mappings key by key,
// lists as registered for their path. What says nothing changes nothing.
func (s strategies) overlay(path string, parent, child value) value {
	switch {
	case parent.fields != nil && child.fields != nil:
		out := maps.Clone(parent.fields)
		for key, inner := range child.fields {
			if outer, ok := out[key]; ok {
				inner = s.overlay(strings.TrimPrefix(path+"."+key, "."), outer, inner)
			}
			out[key] = inner
		}
		return value{at: child.at, fields: out}
	case parent.items != nil && child.items != nil:
		return value{at: child.at, items: s.find(path).lists(parent.items, child.items)}
	case child.scalar != nil && yamldoc.IsNull(child.scalar):
		return parent
	}
	return child
}

// node is the value as YAML again.
func (v value) node() *yaml.Node {
	switch {
	case v.fields != nil:
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for _, key := range slices.Sorted(maps.Keys(v.fields)) {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, v.fields[key].node())
		}
		return n
	case v.items != nil:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range v.items {
			n.Content = append(n.Content, item.node())
		}
		return n
	}
	return v.scalar
}
