package style

import (
	"fmt"
	"strings"
	uni "unicode"
)

// EscapeJSON escapes the characters of a JSON document that a terminal obeys or that
// reorder a line, beside those that JSON requires to be escaped. They stand in texts
// only, so that the document means the same.
func EscapeJSON(document string) string {
	if !IsObeyed(document) {
		return document
	}
	var b strings.Builder
	for _, r := range document {
		if isObeyed(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// IsObeyed says whether a document of lines has characters that a terminal obeys, or
// that reorder a line.
func IsObeyed(document string) bool { return strings.ContainsFunc(document, isObeyed) }

func isObeyed(r rune) bool {
	return r != '\n' && uni.IsControl(r) || isDirection(r) || r == '\u2028' || r == '\u2029'
}
