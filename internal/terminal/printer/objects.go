package printer

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/terminal/style"
)

// The actions of a dry run.
const (
	ActionCreate = "create"
	ActionUpdate = "update"
	ActionDelete = "delete"
)

// Object is an object of the cluster that a dry run would do something with.
type Object struct {
	// Action is what would be done: create, update or delete.
	Action string
	// Content is the object as its JSON form has it. For delete only its names
	// are looked at.
	Content map[string]any
}

// PrintObjects prints what a dry run has found on stdout: as text one YAML
// document an object, each under a line that says what would be done with it,
// for json and yaml one List. What Secrets hold is not shown, whatever the
// format.
func PrintObjects(s terminal.Streams, f Format, objects []Object) error {
	shown := make([]Object, 0, len(objects))
	for _, o := range objects {
		shown = append(shown, Object{Action: o.Action, Content: redacted(o.Content)})
	}
	switch {
	case f.kind == formatName:
		return writeAll(s.Out, shown, func(w io.Writer, o Object) error {
			_, err := fmt.Fprintln(w, style.CleanText(o.name()))
			return err
		})
	case f.IsText():
		return writeAll(s.Out, shown, writeObject)
	}
	items := make([]any, 0, len(shown))
	for _, o := range shown {
		items = append(items, o.Content)
	}
	return Print(s, f, map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}

// writeAll writes everything or nothing.
func writeAll(w io.Writer, objects []Object, write func(io.Writer, Object) error) error {
	var b bytes.Buffer
	for _, o := range objects {
		if err := write(&b, o); err != nil {
			return err
		}
	}
	_, err := b.WriteTo(w)
	return err
}

func writeObject(w io.Writer, o Object) error {
	if o.Action == ActionDelete {
		_, err := fmt.Fprintf(w, "# %s %s\n", o.Action, style.CleanText(o.name()))
		return err
	}
	text, err := yaml.Marshal(o.Content)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "---\n# %s %s\n%s", o.Action, style.CleanText(o.name()), text)
	return err
}

// name is kind/name, the way kubectl says it.
func (o Object) name() string {
	metadata, _ := o.Content["metadata"].(map[string]any)
	name, _ := metadata["name"].(string)
	kind, _ := o.Content["kind"].(string)
	return strings.ToLower(kind) + "/" + name
}

// hidden stands where a Secret's value would.
const hidden = "***"

// redacted is an object without what it keeps secret: a dry run ends up in
// terminals, logs and tickets.
func redacted(content map[string]any) map[string]any {
	if content["kind"] != "Secret" {
		return content
	}
	out := make(map[string]any, len(content))
	for key, value := range content {
		values, isMap := value.(map[string]any)
		if isMap && (key == "data" || key == "stringData") {
			veiled := make(map[string]any, len(values))
			for name := range values {
				veiled[name] = hidden
			}
			value = veiled
		}
		out[key] = value
	}
	return out
}
