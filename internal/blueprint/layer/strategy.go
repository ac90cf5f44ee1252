package layer

import (
	"maps"
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/yamldoc"
)

// Strategy merges a list of a child layer with its parent's.
type Strategy struct {
	How How
	// Key is the field that identifies an item; empty for the item itself.
	Key string
}

// How says which items the merged list has.
type How int

// The ways to merge lists.
const (
	Append  How = iota // the parent's items, then the child's
	Replace            // the child's items only
	Union              // as Append, but an item of the child replaces the parent's that is the same
)

// Strategies are the strategies by path. An exact dotted path wins over a suffix of it, a longer suffix over a shorter
// one, and the bare key comes last. Other lists are appended.
type Strategies struct {
	Exact, Suffix, Key map[string]Strategy
}

func (s Strategies) find(path string) Strategy {
	if found, ok := s.Exact[path]; ok {
		return found
	}
	parts := strings.Split(path, ".")
	for i := 1; i < len(parts); i++ {
		if found, ok := s.Suffix[strings.Join(parts[i:], ".")]; ok {
			return found
		}
	}
	return s.Key[parts[len(parts)-1]]
}

// Merge merges a child layer into its parent: scalars are the child's, mappings merge key by key, lists by their
// strategies. Null changes nothing.
func (s Strategies) Merge(parent, child Value) Value { return s.merge("", parent, child) }

func (s Strategies) merge(path string, parent, child Value) Value {
	switch {
	case parent.Fields != nil && child.Fields != nil:
		out := maps.Clone(parent.Fields)
		for key, inner := range child.Fields {
			if outer, ok := out[key]; ok {
				inner = s.merge(join(path, key), outer, inner)
			}
			out[key] = inner
		}
		return Value{At: child.At, Fields: out}
	case parent.Items != nil && child.Items != nil:
		return Value{At: child.At, Items: s.find(path).lists(parent.Items, child.Items)}
	case child.Scalar != nil && yamldoc.IsNull(child.Scalar):
		return parent
	}
	return child
}

func (s Strategy) lists(parent, child []Value) []Value {
	switch s.How {
	case Replace:
		return child
	case Union:
		return union(parent, child, s.Key)
	default:
		return slices.Concat(parent, child)
	}
}

// union keeps duplicates within one layer, as validation reports them.
func union(parent, child []Value, key string) []Value {
	index := map[string]int{}
	for i, item := range parent {
		if id, ok := item.id(key); ok {
			index[id] = i
		}
	}
	all, replaced := slices.Clone(parent), map[int]bool{}
	for _, item := range child {
		id, ok := item.id(key)
		i, known := index[id]
		if !ok || !known || replaced[i] {
			all = append(all, item)
			continue
		}
		all[i], replaced[i] = item, true
	}
	return all
}

// id identifies an item of a list. An expression does not until it has been evaluated.
func (v Value) id(key string) (id string, ok bool) {
	if key != "" {
		v = v.Fields[key]
	}
	if v.Scalar == nil || yamldoc.IsNull(v.Scalar) || v.IsExpression() {
		return "", false
	}
	return v.Scalar.Value, true
}
