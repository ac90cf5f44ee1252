package yamldoc

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Resolve returns the node that an alias refers to, and any other node as it is. Read has made sure that this ends.
func Resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Expand returns a copy of a node with its aliases expanded. Read has bounded how large that can be.
func Expand(n *yaml.Node) *yaml.Node {
	n = Resolve(n)
	expanded := *n
	expanded.Anchor = ""
	expanded.Content = make([]*yaml.Node, len(n.Content))
	for i, child := range n.Content {
		expanded.Content[i] = Expand(child)
	}
	return &expanded
}

// IsNull reports whether a node is null, however it is written.
func IsNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// isMerge reports whether a key is <<.
func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

// CustomTag is the tag of a node if it is not one of YAML's, such as !cel; else empty.
func CustomTag(n *yaml.Node) string {
	tag := n.ShortTag()
	if tag == "!" || strings.HasPrefix(tag, "!!") {
		return ""
	}
	return tag
}

// Describe names the kind of a node for messages.
func Describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if tag := CustomTag(n); tag != "" {
		return "the tag " + tag
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "a boolean"
	case "!!null":
		return "null"
	}
	return "a string"
}

// Field is the value of a key of a mapping; nil if it has no such key.
func Field(n *yaml.Node, name string) *yaml.Node {
	n = Resolve(n)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := Resolve(n.Content[i]); key.Kind == yaml.ScalarNode && key.Value == name {
			return Resolve(n.Content[i+1])
		}
	}
	return nil
}
