// Package yamldoc reads YAML from untrusted sources: strictly, with the position of every problem, and within limits
// that a hostile file cannot exceed.
package yamldoc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"regexp"
	"strings"
	"unicode"

	yaml2 "go.yaml.in/yaml/v2"
	"go.yaml.in/yaml/v3"
)

// ReadFile reads a file, but little more than Read accepts: a device or a pipe may have no end.
func ReadFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, MaxFile+1))
}

// Read returns the one document of a file as nodes, which keep positions and tell what is left out from what is empty.
// It is nil if the file is empty.
func Read(file string, raw []byte) (top *yaml.Node, problems []Problem) {
	return ReadWithin(file, raw, limits())
}

// ReadWithin is Read with other limits.
func ReadWithin(file string, raw []byte, limits Limits) (top *yaml.Node, problems []Problem) {
	top, problem := read(raw, limits)
	if problem == nil {
		return top, nil
	}
	problem.File = file
	return nil, []Problem{*problem}
}

func read(raw []byte, limits Limits) (top *yaml.Node, problem *Problem) {
	if len(raw) > limits.Bytes {
		return nil, &Problem{Message: fmt.Sprintf("larger than %d MiB", limits.Bytes>>20)}
	}
	if Marks(raw) > limits.Marks {
		return nil, &Problem{Message: "too many values"}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(raw))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, syntaxProblem(raw, err)
	}
	if problem, at := checkSize(&document, limits); problem != "" {
		return nil, &Problem{Line: at.Line, Column: at.Column, Message: problem}
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, &Problem{Line: second.Line, Message: "more than one document"}
	} else if !errors.Is(err, io.EOF) {
		return nil, syntaxProblem(raw, err)
	}
	if top = Resolve(document.Content[0]); IsNull(top) {
		return nil, nil
	}
	return top, nil
}

// syntaxProblem makes a problem of a parser's "yaml: line 3: message".
func syntaxProblem(raw []byte, err error) *Problem {
	line, message := place(err)
	switch {
	case strings.HasPrefix(message, "unknown anchor"):
		line = lineOf(raw, anchor.FindStringSubmatch(message)[1])
	case strings.HasPrefix(message, "did not find expected"), strings.HasPrefix(message, "found a tab"):
		begin := line + 1 // of what is not ended
		line = errorLine(raw, line)
		if strings.Contains(message, "',' or") && begin < line {
			message += fmt.Sprintf("; it begins on line %d", begin)
		}
	}
	line = max(line, 1)
	text := lineAt(raw, line)
	for line > 1 && len(bytes.TrimSpace(text)) == 0 { // the end of the file
		line--
		text = lineAt(raw, line)
	}
	column := len(text) - len(bytes.TrimLeftFunc(text, unicode.IsSpace)) + 1
	if indent := text[:column-1]; bytes.ContainsRune(indent, '\t') {
		return &Problem{
			Line: line, Column: bytes.IndexByte(indent, '\t') + 1,
			Message: "indented with a tab: use spaces",
		}
	}
	for problem, plain := range plainly() {
		message = strings.Replace(message, problem, plain, 1)
	}
	return &Problem{Line: line, Column: column, Message: message}
}

// plainly says what the parser says in terms of what is written.
func plainly() map[string]string {
	return map[string]string{
		"did not find expected key": "this does not belong here: check its indentation, and " +
			"whether a quote ends too early",
		"did not find expected '-' indicator": "this does not belong to the list above: " +
			"check its indentation",
		"did not find expected ',' or ']'":   "a list in [ ] is not closed, or a comma is missing",
		"did not find expected ',' or '}'":   "a mapping in { } is not closed, or a comma is missing",
		"did not find expected node content": "a value is missing, or a bracket is not closed",
		"mapping values are not allowed in this context": "a second \": \" in one line, or a wrong indentation: " +
			"quote the value, or indent the line as those around it",
		"could not find expected ':'":                 "expected KEY: VALUE, found a text without \": \"",
		"found unexpected end of stream":              "the quote that begins here is not closed",
		"found character that cannot start any token": "a value cannot begin with this character: quote the value",
		"unknown anchor":                              "unknown anchor (quote a value that begins with *)",
	}
}

var anchor = regexp.MustCompile(`'([^']*)'`)

// place is the line that an error of a parser names, 0 for none, and its message.
func place(err error) (line int, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	if n, _ := fmt.Sscanf(message, "line %d:", &line); n == 1 {
		_, message, _ = strings.Cut(message, ": ")
	}
	return line, message
}

// errorLine is the line where the parser stopped. The parser names the one where the mapping or list around it begins;
// the one that it comes from names this one.
func errorLine(raw []byte, otherwise int) int {
	var nothing struct{}
	err := yaml2.Unmarshal(raw, &nothing)
	if err == nil {
		return otherwise
	}
	line, message := place(err)
	if strings.HasPrefix(message, "did not find expected") {
		line++ // it counts these from 0
	}
	return line
}

// lineOf is the line with the first alias of a name.
func lineOf(raw []byte, alias string) int {
	at := bytes.Index(raw, []byte("*"+alias))
	return bytes.Count(raw[:max(at, 0)], []byte("\n")) + 1
}

// lineAt is a line of a text, which are counted from 1; empty if there is no such line.
func lineAt(text []byte, line int) []byte {
	for range line - 1 {
		end := bytes.IndexByte(text, '\n')
		if end < 0 {
			return nil
		}
		text = text[end+1:]
	}
	text, _, _ = bytes.Cut(text, []byte("\n"))
	return bytes.TrimRight(text, "\r")
}

// Documents gives the documents of a text of YAML with the number of lines in front of each. A line that begins with
// --- or ... is no part of anything else in YAML.
func Documents(text []byte) iter.Seq2[int, []byte] {
	return func(yield func(int, []byte) bool) {
		start, before, line := 0, 0, 0
		flush := func(end int) bool {
			if document := text[start:end]; !blank(document) {
				return yield(before, document)
			}
			return true
		}
		for at := 0; at < len(text); line++ {
			next := len(text)
			if i := bytes.IndexAny(text[at:], "\r\n"); i >= 0 {
				next = at + i + 1
				if text[at+i] == '\r' && next < len(text) && text[next] == '\n' {
					next++
				}
			}
			if separates(text[at:next]) {
				if !flush(at) {
					return
				}
				start, before = at, line
				if text[at] == '.' {
					start, before = next, line+1
				}
			}
			at = next
		}
		flush(len(text))
	}
}

// separates says whether a line begins or ends a document.
func separates(line []byte) bool {
	rest, begins := bytes.CutPrefix(line, []byte("---"))
	if !begins {
		if rest, begins = bytes.CutPrefix(line, []byte("...")); !begins {
			return false
		}
	}
	return len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0
}

// blank says whether a document has nothing but comments and directives.
func blank(document []byte) bool {
	document = bytes.TrimPrefix(document, []byte("---"))
	for line := range bytes.FieldsFuncSeq(document, func(r rune) bool { return r == '\n' || r == '\r' }) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' && line[0] != '%' {
			return false
		}
	}
	return true
}

// Leading is the number of lines in front of the first one with content.
func Leading(text []byte) (lines int) {
	for line := range bytes.Lines(text) {
		if !blank(line) {
			return lines
		}
		lines++
	}
	return 0
}
