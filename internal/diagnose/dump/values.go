package dump

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"iter"

	"sigs.k8s.io/yaml"

	"github.com/berthdev/berth/internal/yamldoc"
)

// json reads values of JSON, one after the other, up to a number of problems. Where one
// is broken, it goes on with the next that begins a line.
func (r *reader) json(at place, text []byte, mostProblems int) {
	skip := func(bytesOf int) {
		at.line += bytes.Count(text[:bytesOf], []byte("\n"))
		text = text[bytesOf:]
	}
	for range yamldoc.Leading(text) { // --- and comments
		skip(bytes.IndexByte(text, '\n') + 1)
	}
	for len(r.problems) < mostProblems && r.exceeded == nil {
		read, err := r.values(at, text, mostProblems)
		if err == nil {
			return
		}
		skip(read)
		skip(len(text) - len(bytes.TrimLeft(text, " \t\r\n")))
		if r.brokenJSON(at, text) {
			return
		}
		next := bytes.Index(text, []byte("\n{"))
		if next < 0 {
			return
		}
		skip(next + 1)
	}
}

// values reads values up to the first that is broken, and says how much that was.
func (r *reader) values(at place, text []byte, mostProblems int) (read int, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	for len(r.problems) < mostProblems && r.exceeded == nil {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); errors.Is(err, io.EOF) {
			return len(text), nil
		} else if err != nil {
			return read, err
		}
		end := int(decoder.InputOffset())
		at.line += bytes.Count(text[read:end-len(raw)], []byte("\n"))
		r.value(at, raw)
		at.line += bytes.Count(raw, []byte("\n"))
		read = end
	}
	return len(text), nil
}

// brokenJSON adds where a value is broken with which a text begins. It is true if the rest of the text was read with
// it.
func (r *reader) brokenJSON(at place, text []byte) (all bool) {
	broken, ok := errors.AsType[*json.SyntaxError](json.Unmarshal(text, new(json.RawMessage)))
	if !ok {
		return false // what is behind the value is
	}
	upTo := bytes.TrimRight(text[:min(max(broken.Offset-1, 0), int64(len(text)))], "\n")
	line := at.line + bytes.Count(upTo, []byte("\n"))
	if broken.Offset >= int64(len(text)) {
		return r.noEnd(at, line, text)
	}
	r.problem(at.file, line, "%v", broken)
	return false
}

// yaml reads a document of YAML, up to a number of problems.
func (r *reader) yaml(at place, text []byte, mostProblems int) {
	for before, document := range concatenated(text) {
		if len(r.problems) >= mostProblems || r.exceeded != nil {
			return
		}
		r.yamlDocument(place{at.file, at.line + before}, document)
	}
}

func (r *reader) yamlDocument(at place, text []byte) {
	if problem := yamldoc.Bomb(text, r.limits.yaml); problem != nil {
		message := problem.Message
		if problem.Line == 0 { // it is too much as a whole
			message += ": JSON takes less to read, as -o json prints it"
		}
		r.problem(at.file, at.line+max(problem.Line-1, 0), "%s", message)
		return
	}
	raw, err := yaml.YAMLToJSON(text)
	if err == nil {
		at.line += yamldoc.Leading(text)
		if !r.unfinished(at, raw) {
			r.value(at, raw)
		}
		return
	}
	if r.halfLine(at, text) {
		return
	}
	// The other parser knows the line.
	_, problems := yamldoc.ReadWithin(at.file, text, r.limits.yaml)
	if len(problems) == 0 {
		r.problem(at.file, at.line, "%v", err)
		return
	}
	r.problem(at.file, at.line+max(problems[0].Line-1, 0), "%s", problems[0].Message)
}

// concatenated splits what several calls of kubectl have written into one file, without
// anything between: the first key of a document begins another where it comes again.
func concatenated(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		var first []byte
		start, before, at, line := 0, 0, 0, 0
		for l := range bytes.Lines(text) {
			key, _, isKey := bytes.Cut(l, []byte(":"))
			switch {
			case !isKey || len(key) == 0 || bytes.IndexByte([]byte(" \t#-"), key[0]) >= 0:
			case first == nil:
				first = key
			case bytes.Equal(key, first):
				if !yield(before, text[start:at]) {
					return
				}
				start, before = at, line
			}
			at += len(l)
			line++
		}
		yield(before, text[start:])
	}
}
