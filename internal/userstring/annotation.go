package userstring

import (
	"encoding/base64"
	"strings"
	"unicode"
)

// maxAnnotation bounds what is read, in bytes. A canonical user string can be longer
// than what is typed, as it is percent-encoded.
const maxAnnotation = 16 * MaxLength

// ToAnnotation is a user string as the annotation of an object has it.
func ToAnnotation(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// FromAnnotation is the user string in the annotation of a pod, which is in base64;
// empty if it is none that could be typed: others can write the annotation, too.
func FromAnnotation(value string) string {
	if len(value) > base64.StdEncoding.EncodedLen(maxAnnotation) {
		return ""
	}
	text, err := base64.StdEncoding.DecodeString(value)
	isOdd := func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if err != nil || len(text) > maxAnnotation || strings.ContainsFunc(string(text), isOdd) {
		return ""
	}
	return string(text)
}
