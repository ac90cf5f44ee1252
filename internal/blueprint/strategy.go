package blueprint

import (
	"slices"
	"strings"

	"github.com/berthdev/berth/internal/yamldoc"
)

// strategy says how a list of a child is laid over its parent's.
type strategy struct {
	how how
	// key is the field by which items are the same; empty for the item itself.
	key string
}

type how int

const (
	appended how = iota // the parent's items first; what is not registered
	replaced            // the child's items only
	united              // the child's item takes the place of the parent's that is the same
)

// strategies are registered by path. The exact dotted path counts before a
// suffix of it, a longer suffix before a shorter one, and the bare key last.
type strategies struct {
	exact, suffix, key map[string]strategy
}

// platformStrategies are those of platform blueprints.
func platformStrategies() strategies {
	return strategies{
		exact: map[string]strategy{
			"initScripts":                {how: united, key: "name"},
			"network.allowEgressToCIDRs": {how: united},
		},
		suffix: map[string]strategy{
			"capabilities.add":  {how: united},
			"capabilities.drop": {how: united},
		},
		key: map[string]strategy{
			// The ways to mount a claim are alternatives: one and then another would
			// ask for a volume that can do both.
			"accessModes": {how: replaced},
		},
	}
}

// ownStrategies are those of what a user brings along. It adds to the platform's
// scripts and takes none of their places.
func ownStrategies() strategies {
	own := platformStrategies()
	delete(own.exact, "initScripts")
	return own
}

func (s strategies) find(path string) strategy {
	if found, ok := s.exact[path]; ok {
		return found
	}
	parts := strings.Split(path, ".")
	for i := 1; i < len(parts); i++ {
		if found, ok := s.suffix[strings.Join(parts[i:], ".")]; ok {
			return found
		}
	}
	return s.key[parts[len(parts)-1]]
}

// lists lays a child's list over its parent's.
func (s strategy) lists(parent, child []value) []value {
	switch s.how {
	case replaced:
		return child
	case united:
		return unite(parent, child, s.key)
	default:
		return slices.Concat(parent, child)
	}
}

// unite keeps what is twice within one layer, for that is a mistake to be told.
func unite(parent, child []value, key string) []value {
	at := map[string]int{}
	for i, item := range parent {
		if name, ok := item.named(key); ok {
			at[name] = i
		}
	}
	all, taken := slices.Clone(parent), map[int]bool{}
	for _, item := range child {
		name, ok := item.named(key)
		i, known := at[name]
		if !ok || !known || taken[i] {
			all = append(all, item)
			continue
		}
		all[i], taken[i] = item, true
	}
	return all
}

// named is by which an item is known. An expression is not known by anything
// until it has been evaluated.
func (v value) named(key string) (name string, ok bool) {
	if key != "" {
		v = v.fields[key]
	}
	if v.scalar == nil || yamldoc.IsNull(v.scalar) || isExpression(v.scalar) {
		return "", false
	}
	return v.scalar.Value, true
}
