package result

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// expressionTag marks an expression in a file of blueprints.
const expressionTag = "!cel"

// tag puts expressions into the fields of a blueprint that they are the values of.
func tag(spec *yaml.Node, expressions map[string]string) {
	for _, path := range slices.Sorted(maps.Keys(expressions)) {
		n := spec
		for rest := path; rest != "" && n != nil; {
			n, rest = step(n, rest)
		}
		if n != nil {
			comment := n.LineComment
			*n = yaml.Node{Kind: yaml.ScalarNode, Tag: expressionTag, Value: expressions[path], LineComment: comment}
		}
	}
}

// step goes down one part of a dotted path. A key may contain dots, so the longest one
// that there is is taken; one that there is not is a field that has no value without
// its expression.
func step(n *yaml.Node, path string) (inner *yaml.Node, rest string) {
	var i int
	if found, _ := fmt.Sscanf(path, "[%d]", &i); found == 1 {
		_, rest, _ = strings.Cut(path, "]")
		if n.Kind != yaml.SequenceNode || i >= len(n.Content) {
			return nil, ""
		}
		return n.Content[i], strings.TrimPrefix(rest, ".")
	}
	longest := ""
	for k := 0; k+1 < len(n.Content) && n.Kind == yaml.MappingNode; k += 2 {
		key := n.Content[k].Value
		after, matches := strings.CutPrefix(path, key)
		if matches && len(key) > len(longest) && (after == "" || after[0] == '.' || after[0] == '[') {
			longest = key
		}
	}
	if longest == "" {
		longest, _, _ = strings.Cut(path, ".")
	}
	return field(n, longest), strings.TrimPrefix(path[len(longest):], ".")
}

// field is the value of a key of a mapping, which is added if there is none; nil if it
// is no mapping.
func field(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for k := 0; k+1 < len(n.Content); k += 2 {
		if n.Content[k].Value == key {
			return n.Content[k+1]
		}
	}
	n.Style = 0
	value := &yaml.Node{Kind: yaml.MappingNode}
	n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, value)
	return value
}
