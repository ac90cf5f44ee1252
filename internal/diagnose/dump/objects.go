package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"github.com/berthdev/berth/internal/watch"
)

// document is a list, an object, a change of a watch, or what the API server answers
// instead.
type document struct {
	APIVersion string          `json:"apiVersion"`
	Kind       string          `json:"kind"`
	Items      json.RawMessage `json:"items"`

	Type   json.RawMessage `json:"type"`
	Object json.RawMessage `json:"object"`

	Message json.RawMessage `json:"message"` // of a Status
}

// value reads what a text has: an object, or a list of them.
func (r *reader) value(at place, raw []byte) {
	if deeper(raw, r.limits.depth) {
		r.problem(at.file, at.line, "nested more than %d levels deep", r.limits.depth)
		return
	}
	if err := r.object(raw, nil); err != nil {
		r.problem(at.file, at.line, "%v", plainly(err))
	}
}

// object reads a value with everything in it. Of a list, the first problem is returned;
// the rest is read.
func (r *reader) object(raw []byte, defaults *schema.GroupVersionKind) error {
	if bytes.HasPrefix(raw, []byte("[")) {
		return r.items(raw, "the list", nil)
	}
	if bytes.Equal(raw, []byte("null")) {
		return errors.New("not a Kubernetes object: null")
	}
	doc := document{}
	if defaults != nil {
		doc.APIVersion, doc.Kind = defaults.GroupVersion().String(), defaults.Kind
	}
	if err := json.Unmarshal(raw, &doc); err != nil {
		return err
	}
	if doc.Kind == "" && doc.Object != nil {
		return r.change(raw)
	}
	if doc.Kind == "" && doc.Items != nil {
		return r.items(doc.Items, "the list", nil)
	}
	if err := doc.check(); err != nil {
		return err
	}
	itemKind, list := strings.CutSuffix(doc.Kind, "List")
	switch {
	case list && doc.Items == nil:
		return nil
	case list && itemKind == "":
		return r.items(doc.Items, doc.Kind, nil) // each says what it is
	case list:
		gvk := schema.FromAPIVersionAndKind(doc.APIVersion, itemKind)
		return r.items(doc.Items, doc.Kind, &gvk)
	}
	obj, known, err := watch.Decode(raw, defaults)
	if known {
		r.add(watch.Record{Type: apiwatch.Added, Object: obj})
	}
	return err
}

// check finds what is no object, nor a list of them.
func (d document) check() error {
	switch {
	case d.Kind == "":
		return errNoKind
	case d.Kind == "Status" && d.APIVersion == "v1":
		return fmt.Errorf("the API server answered: %s", d.Message)
	case d.Kind == "Table" && strings.HasPrefix(d.APIVersion, "meta.k8s.io/"):
		return errors.New(string(formTable))
	}
	return nil
}

// change reads a change as a watch reports it.
func (r *reader) change(raw []byte) error {
	record, known, err := watch.ReadRecord(raw)
	if known {
		r.add(record)
	}
	return err
}

func (r *reader) items(raw []byte, kind string, defaults *schema.GroupVersionKind) (first error) {
	var items []json.RawMessage
	if err := json.Unmarshal(raw, &items); err != nil {
		return err
	}
	broken := 0
	for i, item := range items {
		if r.exceeded != nil {
			break
		}
		if err := r.object(item, defaults); err != nil {
			broken++
			if first == nil {
				first = fmt.Errorf("item %d of %s: %w", i+1, kind, plainly(err))
			}
		}
	}
	if broken > 1 {
		first = fmt.Errorf("%w (and %d more)", first, broken-1)
	}
	return first
}

var errNoKind = errors.New(`not a Kubernetes object: "kind" is required`)

// plainly says in terms of what is written what the decoders say of Go's types.
func plainly(err error) error {
	if runtime.IsMissingKind(err) {
		return errNoKind
	}
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if e.Field == "" {
			return fmt.Errorf("not a Kubernetes object: a %s", e.Value)
		}
		return fmt.Errorf("%q must not be of type %s", e.Field, e.Value)
	}
	return err
}

// deeper reports whether a value of JSON is nested deeper than some levels.
func deeper(raw []byte, levels int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			if depth > levels {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}
