package yamldoc

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Behind is what an alias stands for, and everything else itself. That aliases
// do not stand for themselves has been made sure of.
func Behind(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// IsNull is true of what is written as nothing.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// IsMerge is true of the key <<.
func IsMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

// OwnTag is the tag of a scalar that YAML does not know, such as !cel; empty if
// it has none.
func OwnTag(n *yaml.Node) string {
	tag := n.ShortTag()
	if tag == "!" || strings.HasPrefix(tag, "!!") {
		return ""
	}
	return tag
}

// Found says in a user's words what a node is.
func Found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if tag := OwnTag(n); tag != "" {
		return "the tag " + tag
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	}
	return "a text"
}

// Field is the value of a mapping's key; nil if there is none.
func Field(n *yaml.Node, name string) *yaml.Node {
	n = Behind(n)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := Behind(n.Content[i]); key.Kind == yaml.ScalarNode && key.Value == name {
			return Behind(n.Content[i+1])
		}
	}
	return nil
}
