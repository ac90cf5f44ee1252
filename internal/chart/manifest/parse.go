package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
		r.located(before, problem)
		return nil
	}
	converted, err := r.toJSON(text)
	if err != nil {
		r.located(before, err.Error())
		return nil
	}
	if yamldoc.HasAliases(text) && !r.take(len(converted)-len(text), yamldoc.Marks(converted)) {
		return nil
	}
	var content any
	if _, err := strictjson.UnmarshalStrict(converted, &content); err != nil {
		r.located(before, err.Error())
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

func (r *Reader) toJSON(text []byte) ([]byte, error) {
	if r.Strict {
		return yaml.YAMLToJSONStrict(text)
	}
	return yaml.YAMLToJSON(text)
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
			if r.Strict {
				r.problem(line, "%v", duplicate)
			}
		}
		values = append(values, value{line, content})
	}
}

// located adds the problems of the messages of a parser, which have numbers of lines of the
// document: "yaml: line 3: message", "3:14: message", or a list of "  line 3: message".
func (r *Reader) located(before int, message string) {
	message = strings.TrimPrefix(strings.TrimPrefix(message, "error converting YAML to JSON: "), "yaml: ")
	for text := range strings.SplitSeq(strings.TrimPrefix(message, "unmarshal errors:\n"), "\n") {
		text = strings.TrimSpace(text)
		line, column := 0, 0
		if n, _ := fmt.Sscanf(text, "line %d:", &line); n == 1 {
			_, text, _ = strings.Cut(text, ": ")
		} else if n, _ := fmt.Sscanf(text, "%d:%d:", &line, &column); n == 2 {
			_, text, _ = strings.Cut(text, ": ")
		} else if n, _ := fmt.Sscanf(text, "%d:", &line); n == 1 {
			_, text, _ = strings.Cut(text, ": ")
		}
		r.problem(before+max(line, 1), "%s", text)
	}
}
