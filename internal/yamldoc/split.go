package yamldoc

import (
	"bytes"
	"iter"
)

// Documents gives the documents of a text of YAML with the number of lines in front
// of each. A line that begins with --- or ... is no part of anything else in YAML.
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
