package blueprint

import (
	"go.yaml.in/yaml/v3"
)

// behind is what an alias stands for, and everything else itself. That aliases
// do not stand for themselves has been made sure of.
func behind(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

func isMerge(key *yaml.Node) bool {
	return key.Kind == yaml.ScalarNode && key.Value == "<<" && key.ShortTag() == "!!merge"
}

// expressionTag marks a scalar that is to be evaluated.
const expressionTag = "!cel"

func isExpression(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == expressionTag
}

// found says in a user's words what a node is.
func found(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case expressionTag:
		return "an expression"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	}
	return "a text"
}

// fieldNode is the value of a mapping's key; nil if there is none.
func fieldNode(n *yaml.Node, name string) *yaml.Node {
	n = behind(n)
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := behind(n.Content[i]); key.Kind == yaml.ScalarNode && key.Value == name {
			return behind(n.Content[i+1])
		}
	}
	return nil
}
