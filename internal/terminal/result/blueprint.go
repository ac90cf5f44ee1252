package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/english"
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

// Blueprints is a list of blueprints.
type Blueprints struct{ v1.BlueprintList }

// Names are their names.
func (l Blueprints) Names() []string {
	names := make([]string, len(l.Items))
	for i, b := range l.Items {
		names[i] = b.Name
	}
	return names
}

// Text is a table.
func (l Blueprints) Text(p style.Page) ([]string, error) {
	cols := []style.Column{
		{Title: "NAME", Name: true, Least: 12},
		{Title: "TEMPLATE", Name: true, Least: 8, DropOrder: 2},
		{Title: "KIND", DropOrder: 1},
		{Title: "DESCRIPTION", Least: 16},
	}
	if p.Wide {
		cols = append(cols, style.Column{Title: "FROM", Name: true, Least: 12})
	}
	return style.Rows(cols, l.Items, p, func(b v1.BlueprintSummary) []string {
		kind := "blueprint"
		if b.IsTemplate {
			kind = "template"
		}
		return []string{b.Name, style.OrDash(b.Template), kind, style.OrDash(b.Description), b.From}
	}), nil
}

// BlueprintCheck says that blueprints are valid.
type BlueprintCheck struct{ v1.BlueprintCheck }

// Text says how many there are.
func (c BlueprintCheck) Text(style.Page) ([]string, error) {
	return []string{english.Plural(c.Blueprints, "blueprint") + " in " + english.Plural(len(c.Files), "file") +
		": no problems found"}, nil
}

// BlueprintConversion is what has become of blueprints of k8shell.
type BlueprintConversion struct{ v1.BlueprintConversion }

// Text is the files, what has changed in them, and what is to be looked at.
func (c BlueprintConversion) Text(style.Page) (lines []string, err error) {
	written := false
	for _, file := range c.Files {
		if file.To != "" {
			written = true
			lines = append(lines, "wrote "+file.To)
		}
	}
	var differing []string
	for _, change := range c.Changes {
		at := fmt.Sprintf("%s:%d: ", change.File, change.Line)
		if change.Blueprint != "" {
			at += "blueprint " + change.Blueprint + ": "
		}
		if change.Field != "" {
			at += change.Field + ": "
		}
		if change.Differs {
			differing = append(differing, at+change.Message)
		} else {
			lines = append(lines, at+change.Message)
		}
	}
	if len(differing) > 0 {
		lines = append(append(lines, "", "Left as they are, with another meaning:"), differing...)
	}
	done := english.Plural(c.Blueprints, "blueprint") + " in " + english.Plural(len(c.Files), "file") + ": " +
		english.Plural(len(c.Changes)-len(differing), "change")
	if len(differing) > 0 {
		done += ", " + strconv.Itoa(len(differing)) + " to look at"
	}
	if !written {
		done += "; nothing is written without --to or --in-place"
	}
	if len(lines) > 0 {
		lines = append(lines, "")
	}
	return append(lines, done), nil
}

// Resolution is what a user string means.
type Resolution struct{ v1.Resolution }

// Text is its parts, and the blueprint with the origin of each field.
func (r Resolution) Text(p style.Page) ([]string, error) {
	f, i, madeFrom := r.Fields, v1.Identity{}, ""
	if r.Identity != nil {
		i = *r.Identity
	}
	if r.Blueprint != nil {
		madeFrom = strings.Join(r.Blueprint.Lineage, " ← ")
	}
	sudo, allowed := "", strings.Join(i.Blueprints, ", ")
	if i.Sudo {
		sudo = "yes"
	}
	if allowed == "*" {
		allowed = ""
	}
	rows := [][2]string{
		{"Form", string(r.Form)},
		{"Username", f.Username},
		{"Blueprint", f.Blueprint},
		{"Repo", f.Repo},
		{"Ref", f.Ref},
		{"User", f.User},
		{"Pod", f.Pod},
		{"Namespace", f.Ns},
		{"Workload", f.Workload},
		{"Key", style.OrDash(r.Key)},
		{"ID", r.ID},
		{"Canonical", r.Canonical},
		{"Identity", identity(i)},
		{"Full name", i.Fullname},
		{"Email", i.Email},
		{"Roles", strings.Join(i.Roles, ", ")},
		{"Sudo", sudo},
		{"May use", allowed},
		{"Made from", madeFrom},
	}
	for i := range rows {
		rows[i][1] = p.Text(rows[i][1])
	}
	lines := p.Labels(rows)
	if r.Notice != "" {
		lines = append(lines, "", style.Paint(p.Yellow, p.Warning)+" "+p.Text(r.Notice))
	}
	if r.Blueprint == nil {
		return lines, nil
	}
	body, err := Blueprint{*r.Blueprint}.Text(p)
	return append(lines, style.Paragraph(body)...), err
}

func identity(i v1.Identity) string {
	if i.Username == "" {
		return ""
	}
	text := fmt.Sprintf("%s, uid %d, gid %d", i.Username, i.UID, i.GID)
	if i.Organization != "" {
		text += ", of " + i.Organization
	}
	return text + ", from " + i.Provider
}

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
