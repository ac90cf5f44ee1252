package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/berthdev/berth/internal/bundle/content"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/yamldoc"
)

// The limits of a text of objects, and of each of its documents.
const (
	maxText      = 12 << 20
	maxTextMarks = 400_000
	maxTextDepth = 500
)

// objects gives a text back that has objects of Kubernetes and nothing else. The author of a bundle chooses the URL,
// and can read the content: what another server answers with is neither kept nor shown in an error.
func objects(text io.Reader) (io.Reader, error) {
	raw, err := io.ReadAll(io.LimitReader(text, maxText+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxText {
		return nil, tooLargeText("the text is larger than %d MiB", maxText>>20)
	}
	if areJSON(raw) {
		return bytes.NewReader(raw), nil
	}
	n := 0
	for before, document := range yamldoc.Documents(bytes.TrimPrefix(raw, []byte("\ufeff"))) {
		if yamldoc.Marks(document) > maxTextMarks {
			return nil, tooLargeText("the document after line %d has too many values", before)
		}
		top, problems := yamldoc.ReadWithin("", document, yamldoc.Limits{
			Bytes: maxText, Marks: maxTextMarks, Weight: 4 * maxText, Depth: maxTextDepth,
		})
		switch {
		case len(problems) > 0, top != nil && (!isText(top, "apiVersion") || !isText(top, "kind")):
			return nil, notObjects()
		case top != nil:
			n++
		}
	}
	if n == 0 {
		return nil, notObjects()
	}
	return bytes.NewReader(raw), nil
}

// areJSON says whether a text is objects in JSON, one after the other.
func areJSON(raw []byte) bool {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	for n := 0; ; n++ {
		var object map[string]json.RawMessage
		switch err := decoder.Decode(&object); {
		case errors.Is(err, io.EOF):
			return n > 0
		case err != nil, !isJSONText(object["apiVersion"]), !isJSONText(object["kind"]):
			return false
		}
	}
}

func isJSONText(raw json.RawMessage) bool { return len(raw) > len(`""`) && raw[0] == '"' }

// isText says whether a field of a mapping is a text.
func isText(top *yaml.Node, name string) bool {
	field := yamldoc.Field(top, name)
	return field != nil && field.Kind == yaml.ScalarNode && field.ShortTag() == "!!str" && field.Value != ""
}

func notObjects() error {
	return fault.New(fault.InvalidArgument, "this is neither an archive nor YAML of Kubernetes objects: each "+
		"document has to have apiVersion and kind").
		WithHint("check that it is the address of the file itself")
}

func tooLargeText(format string, args ...any) error {
	return fault.New(fault.InvalidArgument, format, args...).WithReason(content.ReasonTooLarge).
		WithHint("make an archive of several files")
}
