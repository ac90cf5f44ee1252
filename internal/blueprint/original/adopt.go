// Package original knows blueprints as k8shell has them: it reads their forms beside berth's where both mean one thing,
// and converts files of them where they do not.
package original

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/blueprint"
	"github.com/berthdev/berth/internal/blueprint/layer"
	"github.com/berthdev/berth/internal/yamldoc"
)

// wrapper is the key that holds a blueprint of a file of one.
const wrapper = "blueprint"

// Blueprints are those of a file that is not a mapping with a list "blueprints": a list, a mapping "blueprint", or the
// fields of one blueprint. It reports whether the file is one of these.
func Blueprints(top *yaml.Node) ([]*yaml.Node, bool) {
	if top.Kind == yaml.SequenceNode {
		some := slices.ContainsFunc(top.Content, func(n *yaml.Node) bool {
			return yamldoc.Resolve(n).Kind == yaml.MappingNode
		})
		return top.Content, some || len(top.Content) == 0
	}
	if inner := Unwrapped(top); inner != nil {
		return []*yaml.Node{inner}, true
	}
	name := yamldoc.Field(top, "name")
	if yamldoc.Field(top, "blueprints") != nil || name == nil || name.Kind != yaml.ScalarNode {
		return nil, false
	}
	return []*yaml.Node{top}, true
}

// Unwrapped is the blueprint of a file with nothing but the key "blueprint"; nil if it is another.
func Unwrapped(top *yaml.Node) *yaml.Node {
	inner := yamldoc.Field(top, wrapper)
	if inner == nil || inner.Kind != yaml.MappingNode || len(top.Content) != 2 {
		return nil
	}
	return inner
}

// Adopt gives the fields of a blueprint berth's form where k8shell's means the same. changed is called for each of
// them; nil for nobody.
func Adopt(n *yaml.Node, changed func(at *yaml.Node, field, what string)) {
	if changed == nil {
		changed = func(*yaml.Node, string, string) {}
	}
	if orphans := slot(n, "k8shelld", "ignoreOrphans"); orphans != nil {
		flagAsList(orphans, ".*", func(at *yaml.Node) {
			changed(at, "k8shelld.ignoreOrphans", "is a list of regular expressions")
		})
	}
	if parents := slot(n, "podman", "parentStorages"); parents != nil {
		flagAsList(parents, "*", func(at *yaml.Node) {
			changed(at, "podman.parentStorages", "is a list of names, * for all")
		})
	}
	pods := slot(n, "network", "allowEgressToPods")
	if pods == nil || yamldoc.Resolve(*pods).Kind != yaml.SequenceNode {
		return
	}
	list := yamldoc.Resolve(*pods)
	for i, item := range list.Content {
		if labels := yamldoc.Resolve(item); areLabels(labels) {
			list.Content[i] = mapping(labels, "namespace", scalar(labels, blueprint.AnyNamespace), "labels", labels)
			changed(labels, fmt.Sprintf("network.allowEgressToPods[%d]", i),
				"labels of pods in any namespace are labels with namespace *")
		}
	}
}

// AdoptAt is Adopt for the value of one field.
func AdoptAt(path []string, value *yaml.Node) *yaml.Node {
	outer := value
	for _, key := range slices.Backward(path) {
		outer = mapping(value, key, outer)
	}
	Adopt(outer, nil)
	for _, key := range path {
		outer = *slot(outer, key)
	}
	return outer
}

// flagAsList makes a list of a boolean: of this item, or none.
func flagAsList(at **yaml.Node, item string, changed func(at *yaml.Node)) {
	written := yamldoc.Resolve(*at)
	var on bool
	if written.Kind != yaml.ScalarNode || written.ShortTag() != "!!bool" || written.Decode(&on) != nil {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Style: yaml.FlowStyle}
	place(list, written)
	if on {
		text := scalar(written, item)
		text.Style = yaml.DoubleQuotedStyle
		list.Content = []*yaml.Node{text}
	}
	*at = list
	changed(written)
}

// areLabels says whether an entry has labels alone: it is berth's own if it has a field "labels", or a namespace.
func areLabels(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := yamldoc.Resolve(n.Content[i]), yamldoc.Resolve(n.Content[i+1])
		if key.Value == "labels" || key.Value == "namespace" || value.Kind != yaml.ScalarNode ||
			value.ShortTag() != "!!str" && !layer.IsExpression(value) {
			return false
		}
	}
	return true
}

// Refuse reports the entries of a blueprint that may be berth's or k8shell's, as each means something else, and leaves
// them out.
func Refuse(c *yamldoc.Checker, n *yaml.Node) {
	pods := slot(n, "network", "allowEgressToPods")
	if pods == nil || yamldoc.Resolve(*pods).Kind != yaml.SequenceNode {
		return
	}
	list := yamldoc.Resolve(*pods)
	list.Content = slices.DeleteFunc(list.Content, func(item *yaml.Node) bool {
		item = yamldoc.Resolve(item)
		namespace := text(item, "namespace")
		if namespace == "" || find(item, "labels") != nil || len(item.Content) == 2 {
			return false
		}
		c.Problemf(item, "network.allowEgressToPods: of namespace %[1]s alone, or of all with a label namespace? "+
			"Write {namespace: %[1]s, labels: {...}} or {namespace: \"*\", labels: {namespace: %[1]s, ...}}", namespace)
		return true
	})
}

// SwitchOff switches off the storages of a blueprint that are new in it and do not say whether they are wanted: k8shell
// has them only if they say so. inherited are the names of those that the blueprint's ancestors have.
func SwitchOff(n *yaml.Node, inherited []string) { switchOff(n, inherited, nil, "storages") }

func switchOff(n *yaml.Node, inherited []string, changed func(at *yaml.Node, storage string), path ...string) {
	undecided(n, inherited, func(key, storage *yaml.Node) {
		off := scalar(key, "false")
		off.Tag = "!!bool"
		storage.Content = append([]*yaml.Node{scalar(key, "enabled"), off}, storage.Content...)
		moveHead(storage)
		if changed != nil {
			changed(key, key.Value)
		}
	}, path...)
}

// undecided calls for the storages that are new in a blueprint and do not say whether they are wanted.
func undecided(n *yaml.Node, inherited []string, call func(key, storage *yaml.Node), path ...string) {
	each(n, func(key, storage *yaml.Node) {
		known := slices.Contains(inherited, key.Value)
		if !known && storage.Kind == yaml.MappingNode && find(storage, "enabled") == nil {
			call(key, storage)
		}
	}, path...)
}

// StoragesOf are the names of the storages that a blueprint writes.
func StoragesOf(n *yaml.Node) []string { return namesAt(n, "storages") }

// namesAt are the keys of the mapping at a path.
func namesAt(n *yaml.Node, path ...string) (names []string) {
	each(n, func(key, _ *yaml.Node) { names = append(names, key.Value) }, path...)
	return names
}

// each calls for the pairs of a mapping at a path, each with its value resolved.
func each(n *yaml.Node, call func(key, value *yaml.Node), path ...string) {
	at := slot(n, path...)
	if at == nil || yamldoc.Resolve(*at).Kind != yaml.MappingNode {
		return
	}
	new(yamldoc.Checker).Pairs(yamldoc.Resolve(*at), func(key, value *yaml.Node) { call(key, yamldoc.Resolve(value)) })
}

// slot is where the value at a path is held, so that it can be replaced; nil if there is none.
func slot(n *yaml.Node, path ...string) (at **yaml.Node) {
	for _, name := range path {
		if n = yamldoc.Resolve(n); n.Kind != yaml.MappingNode {
			return nil
		}
		if at = find(n, name); at == nil {
			return nil
		}
		n = *at
	}
	return at
}

// find looks among a mapping's own keys first, then among those merged with <<.
func find(n *yaml.Node, name string) **yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := yamldoc.Resolve(n.Content[i]); key.Kind == yaml.ScalarNode && key.Value == name {
			return &n.Content[i+1]
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := yamldoc.Resolve(n.Content[i]); key.Kind != yaml.ScalarNode || key.ShortTag() != "!!merge" {
			continue
		}
		merged := yamldoc.Resolve(n.Content[i+1])
		if merged.Kind == yaml.MappingNode {
			merged = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{merged}}
		}
		for _, inner := range merged.Content {
			if inner = yamldoc.Resolve(inner); inner.Kind == yaml.MappingNode {
				if at := find(inner, name); at != nil {
					return at
				}
			}
		}
	}
	return nil
}

// mapping is one of pairs of a key and its value, at the place of another node.
func mapping(at *yaml.Node, pairs ...any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	place(n, at)
	for i := 0; i+1 < len(pairs); i += 2 {
		key, _ := pairs[i].(string)
		value, _ := pairs[i+1].(*yaml.Node)
		n.Content = append(n.Content, scalar(at, key), value)
	}
	return n
}

func scalar(at *yaml.Node, value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}
	place(n, at)
	return n
}

func place(n, at *yaml.Node) { n.Line, n.Column = at.Line, at.Column }

// moveHead moves the comment above what was the first key of a mapping, now the second, above the new one.
func moveHead(n *yaml.Node) {
	if len(n.Content) > 2 && n.Style&yaml.FlowStyle == 0 {
		n.Content[0].HeadComment, n.Content[2].HeadComment = n.Content[2].HeadComment, ""
	}
}
