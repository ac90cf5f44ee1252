package provision

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isList tells a YAML or JSON list from lines by its first line that is no
// comment: no user string begins like that.
func isList(text string) bool {
	for line := range strings.Lines(text) {
		line = uncomment(line)
		if line == "" {
			continue
		}
		return line == "-" || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "---") ||
			strings.ContainsAny(line[:1], "[{")
	}
	return false
}

// readList reads a list of user strings, or of mappings with a userString.
func readList(text string) ([]entry, error) {
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var document, more yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil // only comments
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("must be one list, found another document after it")
	}
	list := document.Content[0]
	if list.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("line %d: must be a list", list.Line)
	}
	entries := make([]entry, 0, len(list.Content))
	for _, node := range list.Content {
		entries = append(entries, readItem(node))
	}
	return entries, nil
}

// readItem reads a user string, or a mapping that has one and nothing else.
func readItem(node *yaml.Node) entry {
	e := entry{line: node.Line}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind == yaml.MappingNode {
		var value *yaml.Node
		for i := 0; i+1 < len(node.Content); i += 2 {
			if key := node.Content[i].Value; key != "userString" {
				e.problem = fmt.Sprintf("unknown field %q: must be userString", key)
				return e
			}
			if value != nil {
				e.problem = "duplicate field userString"
				return e
			}
			value = node.Content[i+1]
		}
		if value == nil {
			e.problem = "userString is required"
			return e
		}
		e.line, node = value.Line, value
	}
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" || node.Value == "" {
		e.problem = "must be a user string, or a mapping with a userString"
		return e
	}
	e.text = node.Value // as it was written, whatever type YAML makes of it
	return e
}
