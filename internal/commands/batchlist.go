package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
)

// isList tells a YAML or JSON list from lines by how the first line that is no
// comment begins: no user string begins like that.
func isList(text string) bool {
	for line := range strings.Lines(text) {
		line = uncomment(line)
		if line == "" {
			continue
		}
		return line == "-" || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "---") || strings.ContainsAny(line[:1], "[{")
	}
	return false
}

// readList reads a list of user strings, or of mappings with a userString.
func readList(text string) ([]wish, error) {
	decoder := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	var document, more yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil // only comments
		}
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the list: one list is expected")
	}
	list := document.Content[0]
	if list.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("line %d: a list is expected", list.Line)
	}
	wishes := make([]wish, 0, len(list.Content))
	for _, node := range list.Content {
		wishes = append(wishes, readItem(node))
	}
	return wishes, nil
}

// readItem reads a user string, or a mapping that has one and nothing else.
func readItem(node *yaml.Node) wish {
	w := wish{line: node.Line}
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	if node.Kind == yaml.MappingNode {
		var value *yaml.Node
		for i := 0; i+1 < len(node.Content); i += 2 {
			if key := node.Content[i].Value; key != "userString" {
				w.problem = fmt.Sprintf("field %q is not known: there is userString", key)
				return w
			}
			if value != nil {
				w.problem = "userString is given twice"
				return w
			}
			value = node.Content[i+1]
		}
		if value == nil {
			w.problem = "userString is missing"
			return w
		}
		w.line, node = value.Line, value
	}
	if node.Kind != yaml.ScalarNode || node.Tag == "!!null" || node.Value == "" {
		w.problem = "a user string, or a mapping with a userString, is expected"
		return w
	}
	w.text = node.Value // as it was written, whatever type YAML makes of it
	return w
}
