package yamldoc

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Problem is something that is wrong with a file, and where.
type Problem struct {
	File         string
	Line, Column int // 0 for a problem of the whole file
	Message      string
}

// String is file:line:column: message, with as much of the place as is known.
func (p Problem) String() string {
	switch {
	case p.Line > 0 && p.Column > 0:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
	case p.Line > 0:
		return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Message)
	case p.File != "":
		return p.File + ": " + p.Message
	}
	return p.Message
}

// Report is the text of problems: sorted by their places, each once, at most MaxProblems of them. Where text has the
// file, the line follows, and a mark below the place.
func Report(problems []Problem, text func(file string) []byte) []string {
	sorted := slices.Clone(problems)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	sorted = slices.Compact(sorted)
	var report []string
	for i, p := range sorted {
		if i == MaxProblems {
			return append(report, "more problems follow")
		}
		described := p.String()
		if text != nil && p.Line > 0 {
			described += excerpt(text(p.File), p.Line, p.Column)
		}
		report = append(report, described)
	}
	return report
}

// What is shown of a line, in characters.
const (
	maxExcerpt = 64
	before     = 24 // the place, in a line that is longer
)

// excerpt is a line, and below it a mark at a column; empty if there is no such line.
func excerpt(text []byte, line, column int) string {
	rest := bytes.TrimRight(lineAt(text, line), " \t")
	long := utf8.RuneCount(rest) > maxExcerpt
	at, cut := column-1, ""
	if skip := at - before; long && skip > 0 {
		for range skip + 1 {
			_, size := utf8.DecodeRune(rest)
			rest = rest[size:]
		}
		at, cut = before, "…"
	}
	if len(rest) == 0 || at < 0 {
		return ""
	}
	var shown strings.Builder
	shown.WriteString(cut)
	for n := 0; len(rest) > 0 && n < maxExcerpt; n++ {
		r, size := utf8.DecodeRune(rest)
		shown.WriteRune(visible(r))
		rest = rest[size:]
	}
	if len(rest) > 0 {
		shown.WriteString("…")
	}
	mark := at
	for i, r := range []rune(shown.String()) {
		if i < at {
			mark += columns(r) - 1
		}
	}
	return "\n  " + shown.String() + "\n  " + strings.Repeat(" ", mark) + "^"
}

// columns is how wide a terminal shows a character.
func columns(r rune) int {
	switch kind := width.LookupRune(r).Kind(); {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case kind == width.EastAsianWide, kind == width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// visible is a character as it is shown, without what moves those after it.
func visible(r rune) rune {
	switch {
	case r == '\t':
		return ' '
	case !unicode.IsPrint(r):
		return '?'
	}
	return r
}
