package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	strictjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/yamldoc"
)

// The limits of one document: an object that the API server takes has 3 MiB at most, and a
// List of objects may be one document.
const (
	maxDocument = MaxBytes // bytes as written, and with aliases expanded
	maxDepth    = 500      // nested mappings and lists
)

// value is one value of a document, and the number of its line.
type value struct {
	line    int
	content any
}

// parse reads a document as kubectl does: as JSON if that is what it is, and else as YAML
// 1.1. The lines count from before.
func (r *Reader) parse(before int, text []byte) []value {
	if trimmed := bytes.TrimLeft(text, " \t\r\n\ufeff"); bytes.HasPrefix(trimmed, []byte("{")) {
		if values, ok := r.parseJSON(before, text, len(text)-len(trimmed)); ok {
			return values
		}
	}
	if problem := Bomb(text); problem != "" {
		for line, text := range located(before, problem) {
			r.problem(line, "%s", text)
		}
		return nil
	}
	converted, err := r.toJSON(before, text)
	if err != nil {
		for line, text := range located(before, err.Error()) {
			r.problem(line, "%s", text)
		}
		return nil
	}
	if yamldoc.HasAliases(text) && !r.take(len(converted)-len(text), yamldoc.Marks(converted)) {
		return nil
	}
	var content any
	if _, err := strictjson.UnmarshalStrict(converted, &content); err != nil {
		for line, text := range located(before, err.Error()) {
			r.problem(line, "%s", text)
		}
		return nil
	}
	return []value{{before + 1 + yamldoc.Leading(text), content}}
}

// Bomb says what keeps a document from being parsed in bounded time and memory; what else is
// wrong with it is left to the parser.
func Bomb(text []byte) (problem string) {
	limits := yamldoc.Limits{Bytes: maxDocument, Marks: maxMarks, Weight: maxDocument, Depth: maxDepth}
	if found := yamldoc.Bomb(text, limits); found != nil {
		return found.Message
	}
	return ""
}

// toJSON converts a document of YAML, and warns of keys that are there twice.
func (r *Reader) toJSON(before int, text []byte) ([]byte, error) {
	if !r.Repeats {
		return yaml.YAMLToJSON(text)
	}
	converted, strict := yaml.YAMLToJSONStrict(text)
	if strict == nil {
		return converted, nil
	}
	converted, err := yaml.YAMLToJSON(text)
	if err == nil {
		for line, text := range located(before, strict.Error()) {
			r.warn(line, text+"; the last one counts")
		}
	}
	return converted, err
}

// parseJSON reads values of JSON, one after the other; not ok if that is not what the text is.
func (r *Reader) parseJSON(before int, text []byte, skip int) (values []value, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text[skip:]))
	for {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return values, true
		} else if err != nil {
			return nil, false
		}
		line := before + 1 + bytes.Count(text[:skip+int(decoder.InputOffset())-len(raw)], []byte("\n"))
		var content any
		duplicates, err := strictjson.UnmarshalStrict(raw, &content)
		if err != nil {
			return nil, false
		}
		for _, duplicate := range duplicates {
			if r.Repeats {
				r.warn(line, duplicate.Error()+"; the last one counts")
			}
		}
		values = append(values, value{line, content})
	}
}

// located are the messages of a parser, which have numbers of lines of the document: "yaml: line 3: message",
// "3:14: message", or a list of "  line 3: message".
func located(before int, message string) iter.Seq2[int, string] {
	message = strings.TrimPrefix(strings.TrimPrefix(message, "error converting YAML to JSON: "), "yaml: ")
	return func(yield func(int, string) bool) {
		for text := range strings.SplitSeq(strings.TrimPrefix(message, "unmarshal errors:\n"), "\n") {
			line, text := locate(strings.TrimSpace(text))
			if !yield(before+max(line, 1), text) {
				return
			}
		}
	}
}

// locate takes the number of the line off a message; 0 if it has none.
func locate(text string) (int, string) {
	line, column := 0, 0
	if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	} else if n, _ := fmt.Sscanf(text, "%d:%d:", &line, &column); n == 2 {
		_, text, _ = strings.Cut(text, ": ")
	} else if n, _ := fmt.Sscanf(text, "%d:", &line); n == 1 {
		_, text, _ = strings.Cut(text, ": ")
	}
	return line, text
}
