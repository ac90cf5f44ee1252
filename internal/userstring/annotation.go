package userstring

import (
	"encoding/base64"
	"strings"
	"unicode"
)

// ToAnnotation is a user string as the annotation of an object has it.
func ToAnnotation(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// FromAnnotation is the user string in the annotation of a pod, which is in base64;
// empty if it cannot be one: others can write the annotation, too.
func FromAnnotation(value string) string {
	if len(value) > base64.StdEncoding.EncodedLen(MaxCanonical) {
		return ""
	}
	text, err := base64.StdEncoding.DecodeString(value)
	isOdd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if err != nil || len(text) > MaxCanonical || strings.ContainsFunc(string(text), isOdd) {
		return ""
	}
	return string(text)
}
