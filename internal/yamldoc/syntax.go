package yamldoc

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	yaml2 "go.yaml.in/yaml/v2"
)

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
		return &Problem{Line: line, Column: bytes.IndexByte(indent, '\t') + 1, Message: "indented with a tab: use spaces"}
	}
	for problem, plain := range plainly() {
		message = strings.Replace(message, problem, plain, 1)
	}
	return &Problem{Line: line, Column: column, Message: message}
}

// plainly says what the parser says in terms of what is written.
func plainly() map[string]string {
	return map[string]string{
		"did not find expected key":                      "this does not belong here: check its indentation, and whether a quote ends too early",
		"did not find expected '-' indicator":            "this does not belong to the list above: check its indentation",
		"did not find expected ',' or ']'":               "a list in [ ] is not closed, or a comma is missing",
		"did not find expected ',' or '}'":               "a mapping in { } is not closed, or a comma is missing",
		"did not find expected node content":             "a value is missing, or a bracket is not closed",
		"mapping values are not allowed in this context": "a second \": \" in one line, or a wrong indentation: quote the value, or indent the line as those around it",
		"could not find expected ':'":                    "expected KEY: VALUE, found a text without \": \"",
		"found unexpected end of stream":                 "the quote that begins here is not closed",
		"found character that cannot start any token":    "a value cannot begin with this character: quote the value",
		"unknown anchor":                                 "unknown anchor (quote a value that begins with *)",
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

// errorLine is the line where the parser stopped. The parser names the one where the
// mapping or list around it begins; the one that it comes from names this one.
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
