package result

import (
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/terminal/style"
)

// Objects are what a dry run would change, as a Kubernetes List. What Secrets hold
// is not in it: a dry run ends up in terminals, logs and tickets.
type Objects struct {
	APIVersion string           `json:"apiVersion"`
	Kind       string           `json:"kind"`
	Contents   []map[string]any `json:"items"`
	actions    []string
}

// NewObjects is an empty list.
func NewObjects() Objects {
	return Objects{APIVersion: "v1", Kind: "List", Contents: []map[string]any{}}
}

// Add adds an object, in its JSON form, and what would be done with it: create,
// update or delete, which needs no more than its kind and name.
func (o *Objects) Add(action string, content map[string]any) {
	o.actions, o.Contents = append(o.actions, action), append(o.Contents, redacted(content))
}

// Names are kind/name, as kubectl has it.
func (o Objects) Names() []string {
	names := make([]string, len(o.Contents))
	for i, content := range o.Contents {
		metadata, _ := content["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		kind, _ := content["kind"].(string)
		names[i] = style.CleanText(strings.ToLower(kind) + "/" + name)
	}
	return names
}

// Text is a YAML document for each object, below a comment that says what would be
// done with it.
func (o Objects) Text(style.Page) (lines []string, err error) {
	for i, name := range o.Names() {
		comment := "# " + o.actions[i] + " " + name
		if o.actions[i] == "delete" {
			lines = append(lines, comment)
			continue
		}
		text, err := yaml.Marshal(o.Contents[i])
		if err != nil {
			return nil, err
		}
		lines = append(lines, "---", comment, strings.TrimRight(string(text), "\n"))
	}
	return lines, nil
}

// redacted is an object without the values of a Secret.
func redacted(content map[string]any) map[string]any {
	if content["kind"] != "Secret" {
		return content
	}
	out := make(map[string]any, len(content))
	for key, value := range content {
		values, isMap := value.(map[string]any)
		if isMap && (key == "data" || key == "stringData") {
			hidden := make(map[string]any, len(values))
			for name := range values {
				hidden[name] = "***"
			}
			value = hidden
		}
		out[key] = value
	}
	return out
}
