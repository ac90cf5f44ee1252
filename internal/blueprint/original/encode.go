package original

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/yamldoc"
)

// finish writes a file, unless it is to stay as it is. It is read again: what would be read as something else is
// written without comments, which are what can go wrong.
func (c *converter) finish(f *file) File {
	if f.document == nil {
		return File{Source: f.Source, Text: f.Text}
	}
	top := f.document.Content[0]
	if !slices.ContainsFunc(c.changes, func(ch Change) bool { return ch.File == f.Name && !ch.Differs }) {
		return File{Source: f.Source, Text: f.Text, Top: top}
	}
	text, ok := encoded(f.document)
	if !ok {
		uncomment(f.document)
		if text, ok = encoded(f.document); ok {
			c.change(f, top, "", "", "its comments cannot be kept")
		} else {
			c.problems = append(c.problems, yamldoc.Problem{File: f.Name, Message: "cannot be written again as YAML"})
		}
	}
	return File{Source: f.Source, Text: text, Top: top, Beside: f.beside}
}

// encoded is a document as YAML, if it is read as the same again.
func encoded(document *yaml.Node) ([]byte, bool) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if enc.Encode(document) != nil || enc.Close() != nil {
		return nil, false
	}
	again, problems := yamldoc.Read("", out.Bytes())
	top := document.Content[0]
	if again == nil {
		return out.Bytes(), len(problems) == 0 && yamldoc.IsNull(top)
	}
	return out.Bytes(), len(problems) == 0 && same(top, again)
}

// same says whether two nodes are of the same value.
func same(a, b *yaml.Node) bool {
	a, b = yamldoc.Resolve(a), yamldoc.Resolve(b)
	if a.Kind != b.Kind || a.ShortTag() != b.ShortTag() || len(a.Content) != len(b.Content) || a.Value != b.Value {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

func uncomment(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, child := range n.Content {
		uncomment(child)
	}
}

// drop makes a comment of a field of a mapping. In one that is written in a line it is left out.
func drop(n *yaml.Node, field string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Value != field {
			continue
		}
		n.Content = slices.Delete(n.Content, i, i+2)
		if n.Style&yaml.FlowStyle != 0 || len(n.Content) == 0 {
			return
		}
		var out bytes.Buffer
		enc := yaml.NewEncoder(&out)
		enc.SetIndent(2)
		if enc.Encode(mapping(key, field, value)) != nil {
			return
		}
		comment := joined(key.HeadComment, "# "+strings.ReplaceAll(strings.TrimSpace(out.String()), "\n", "\n# "))
		if i < len(n.Content) {
			n.Content[i].HeadComment = joined(comment, n.Content[i].HeadComment)
		} else {
			n.Content[i-2].FootComment = joined(n.Content[i-2].FootComment, comment)
		}
		return
	}
}
