package diagnose

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/watch"
	"github.com/berthdev/berth/internal/yamldoc"
)

// isHistory distinguishes JSON lines from a List by the first line. A broken one
// counts as the format that it resembles.
func isHistory(raw []byte) bool {
	first, _, _ := bytes.Cut(bytes.TrimSpace(raw), []byte("\n"))
	var line struct {
		At     json.RawMessage `json:"at"`
		Object json.RawMessage `json:"object"`
		Kind   json.RawMessage `json:"kind"`
	}
	if err := json.Unmarshal(first, &line); err != nil {
		return bytes.HasPrefix(first, []byte(`{"at"`)) || bytes.Contains(first, []byte(`"object":`))
	}
	return line.Kind == nil && (line.Object != nil || line.At != nil)
}

// document is a List, a list of one kind, or a single object.
type document struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Items      []json.RawMessage `json:"items"`
}

// readLists reads one List, or several documents one after the other, as several
// calls of kubectl print them.
func readLists(raw []byte) ([]watch.Record, error) {
	if first := bytes.TrimSpace(raw)[0]; first != '{' && first != '[' {
		return readYAML(raw)
	}
	var records []watch.Record
	decoder := json.NewDecoder(bytes.NewReader(raw))
	for {
		var one json.RawMessage
		err := decoder.Decode(&one)
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, atLine(raw, err)
		}
		began := lineOf(raw, decoder.InputOffset()-int64(len(one)))
		more, err := readDocument(one)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", began, err)
		}
		records = append(records, more...)
	}
}

// readYAML reads the documents of a text of YAML.
func readYAML(raw []byte) (records []watch.Record, err error) {
	for before, text := range yamldoc.Documents(raw) {
		began := before + 1 + yamldoc.Leading(text)
		one, err := yaml.YAMLToJSON(text)
		if err != nil {
			return nil, fmt.Errorf("the document that begins at line %d: %w", began, err)
		}
		more, err := readDocument(one)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", began, err)
		}
		records = append(records, more...)
	}
	return records, nil
}

func readDocument(raw json.RawMessage) ([]watch.Record, error) {
	var doc document
	if err := json.Unmarshal(raw, &doc); err != nil {
		return nil, err
	}
	if doc.Kind == "" {
		return nil, errors.New(`"kind" is required`)
	}
	itemKind, list := strings.CutSuffix(doc.Kind, "List")
	if !list {
		doc.Items, itemKind = []json.RawMessage{raw}, doc.Kind
	}
	// The items of a PodList need not say that they are Pods; those of a List do.
	var defaults *schema.GroupVersionKind
	if itemKind != "" {
		gvk := schema.FromAPIVersionAndKind(doc.APIVersion, itemKind)
		defaults = &gvk
	}
	var records []watch.Record
	for i, item := range doc.Items {
		obj, _, err := scheme.Codecs.UniversalDeserializer().Decode(item, defaults, nil)
		if runtime.IsNotRegisteredError(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("item %d of %s: %w", i+1, doc.Kind, err)
		}
		records = append(records, watch.Record{Type: apiwatch.Added, Object: obj})
	}
	return records, nil
}

// atLine says in which line of a text the JSON is broken.
func atLine(raw []byte, err error) error {
	offset := int64(len(raw)) // the end came too soon
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset - 1
	}
	return fmt.Errorf("line %d: %w", lineOf(raw, offset), err)
}

func lineOf(raw []byte, offset int64) int {
	before := raw[:max(0, min(offset, int64(len(raw))))]
	return bytes.Count(bytes.TrimRight(before, "\n"), []byte("\n")) + 1
}
