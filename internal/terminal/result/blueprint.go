package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/terminal/style"
)

// Blueprint is a blueprint with everything that it inherits.
type Blueprint struct{ v1.Blueprint }

// Names are its name.
func (b Blueprint) Names() []string { return []string{b.Name} }

// Text is YAML that could be in a file of blueprints. The origins of the fields
// are comments, if they are known.
func (b Blueprint) Text(p style.Page) ([]string, error) {
	text, err := json.Marshal(b.Spec)
	if err != nil {
		return nil, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(style.EscapeJSON(string(text))), &document); err != nil { // JSON is YAML
		return nil, err
	}
	annotate(document.Content[0], "", b.Origins)
	tag(document.Content[0], b.Expressions)
	nameFirst(document.Content[0])
	var out strings.Builder
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(&document); err != nil {
		return nil, err
	}
	return aligned(strings.Split(strings.TrimRight(out.String(), "\n"), "\n"), p.Styles), nil
}

// Tagged is the document as YAML, in which expressions are what they are in a file;
// nil if it has none.
func (b Blueprint) Tagged(text []byte) ([]byte, error) {
	if len(b.Expressions) == 0 {
		return nil, nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil { // JSON is YAML
		return nil, err
	}
	annotate(document.Content[0], "", nil)
	tag(field(document.Content[0], "spec"), b.Expressions)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	err := enc.Encode(&document)
	return out.Bytes(), err
}

// annotate lets a node be laid out again and puts the origin behind each field.
// There is no place behind a text of several lines: there it is above.
func annotate(n *yaml.Node, path string, origins map[string]string) {
	n.Style = 0
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		key, inner := n.Content[i], n.Content[i+1]
		key.Style = 0
		below := strings.TrimPrefix(path+"."+key.Value, ".")
		annotate(inner, below, origins)
		origin := origins[below]
		switch {
		case origin == "":
		case strings.Contains(inner.Value, "\n"):
			key.HeadComment = originMark + origin
		default:
			inner.LineComment = originMark + origin
		}
	}
	for i := 0; i < len(n.Content) && n.Kind == yaml.SequenceNode; i++ {
		below := fmt.Sprintf("%s[%d]", path, i)
		annotate(n.Content[i], below, origins)
		if origin := origins[below]; origin != "" {
			n.Content[i].LineComment = originMark + origin
		}
	}
}

// originMark begins a comment that says where a field comes from.
const originMark = "# ← "

// aligned puts the origins below each other.
func aligned(lines []string, st style.Styles) []string {
	widest := 0
	for _, line := range lines {
		if before, _, ok := strings.Cut(line, " "+originMark); ok && strings.TrimSpace(before) != "" {
			widest = max(widest, style.Width(before))
		}
	}
	for i, line := range lines {
		before, origin, ok := strings.Cut(line, originMark)
		if !ok {
			lines[i] = st.Layout(line)
			continue
		}
		if strings.TrimSpace(before) != "" {
			before = style.Pad(strings.TrimRight(before, " "), min(widest, 60)) + "  "
		}
		lines[i] = st.Layout(before) + style.Paint(st.Grey, st.Text(originMark+origin))
	}
	return lines
}

// nameFirst puts the name before everything else.
func nameFirst(n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == "name" {
			key, value := n.Content[i], n.Content[i+1]
			copy(n.Content[2:i+2], n.Content[:i])
			n.Content[0], n.Content[1] = key, value
			return
		}
	}
}
