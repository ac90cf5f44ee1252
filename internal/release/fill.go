package release

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// document is one object of a filled template.
type document struct {
	path    string
	content string
	object  *unstructured.Unstructured
}

// fill gives the documents of a chart with values filled in, in the order in
// which Helm installs them. It does for the embedded chart what Helm's engine
// does. That engine compiles JSON schemas whenever a program starts that is
// linked with it, which took a third of berth's start; a test compares the two.
func fill(c *chart.Chart, values map[string]any) ([]document, error) {
	root := template.New("").Option("missingkey=zero")
	root.Funcs(functions(root))
	for _, file := range c.Templates {
		if _, err := root.New(file.Name).Parse(string(file.Data)); err != nil {
			return nil, err
		}
	}
	data := map[string]any{"Values": merged(c.Values, values), "Files": files(c.Files)}
	var documents []document
	for _, file := range c.Templates {
		if strings.HasPrefix(path.Base(file.Name), "_") {
			continue
		}
		var text strings.Builder
		if err := root.ExecuteTemplate(&text, file.Name, data); err != nil {
			return nil, err
		}
		some, err := split(c.Name()+"/"+file.Name, strings.ReplaceAll(text.String(), "<no value>", ""))
		if err != nil {
			return nil, err
		}
		documents = append(documents, some...)
	}
	slices.SortStableFunc(documents, func(a, b document) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a.path, b.path))
	})
	return documents, nil
}

// merged are values over a chart's own: tables are merged, and null removes.
func merged(defaults, values map[string]any) map[string]any {
	out := maps.Clone(defaults)
	if out == nil {
		out = map[string]any{}
	}
	for key, value := range values {
		table, isTable := value.(map[string]any)
		below, wasTable := out[key].(map[string]any)
		switch {
		case isTable && wasTable:
			out[key] = merged(below, table)
		case value == nil:
			delete(out, key)
		default:
			out[key] = value
		}
	}
	return out
}

// split gives the documents of a file.
func split(path, text string) (documents []document, err error) {
	for content := range strings.SplitSeq("\n"+text, "\n---") {
		objects, err := Objects(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, object := range objects {
			documents = append(documents, document{path, strings.TrimSpace(content), object})
		}
	}
	return documents, nil
}

// rank is the place of a kind in Helm's order; those that Helm does not know are
// the last.
func rank(d document) int {
	order := []string{"NetworkPolicy", "ConfigMap", "PersistentVolumeClaim", "Service", "Pod"}
	if i := slices.Index(order, d.object.GetKind()); i >= 0 {
		return i
	}
	return len(order)
}
