package fault

import (
	"strings"
	"unicode"

	"github.com/berthdev/berth/internal/pattern"
)

// sequence is what colours a line or moves the cursor.
const sequence pattern.Expr = `\x1b(?:\[[0-9;:?]*[\x20-\x2f]*[\x40-\x7e]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)`

// Plain takes out of a text what a terminal obeys, and what reorders a line: for texts that are
// kept where other programs show them. Lines and tabs stay.
func Plain(text string) string {
	text = sequence.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), "")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return '\n'
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, text)
}
